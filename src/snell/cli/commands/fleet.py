"""Show all agents, most urgent first; with --watch, whenever one changes."""

import argparse
import sys
import time
from typing import Any

from snell.cli.call_operation import call_operation
from snell.cli.views import show, text_of
from snell.work.agents import STATUSES


def run(args: argparse.Namespace) -> int:
    rows = _rows()
    show("db.agents.fleet", rows, as_json=args.json)
    while args.watch:
        time.sleep(max(args.interval, 0.1))
        before, rows = rows, _rows()
        if text_of("db.agents.fleet", rows) != text_of("db.agents.fleet", before):
            clear = "\x1b[H\x1b[2J" if sys.stdout.isatty() and not args.json else ""
            sys.stdout.write(clear)
            show("db.agents.fleet", rows, as_json=args.json)
            sys.stdout.flush()
    return 0


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = call_operation("db.agents.fleet")
    return sorted(rows, key=lambda row: (STATUSES.index(row["status"]), row["id"]))
