"""Show all agents, most urgent first; with --watch, whenever one changes."""

import argparse
import sys
import time
from typing import Any

from snell.cli.call_operation import call_operation
from snell.cli.table import lines_of, print_rows
from snell.work.agents import STATUSES

EXAMPLE = "snell fleet --watch"
COLUMNS = {
    "id": "AGENT",
    "status": "STATUS",
    "skill": "SKILL",
    "currentPhase": "PHASE",
    "heartbeatCounter": "CALLS",
    "contextUsage": "CONTEXT",
    "title": "TASK",
}
NOTHING = "no named agents yet; start one with AGENT_ID set, or with `snell run --fleet`"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--watch", action="store_true", help="keep running and print every change")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between updates (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    rows = _rows()
    print_rows(rows, _columns(rows), as_json=args.json, nothing=NOTHING)
    while args.watch:
        time.sleep(max(args.interval, 0.1))
        now = _rows()
        if [_visible_cells(row) for row in now] != [_visible_cells(row) for row in rows]:
            rows = now
            clear = "\x1b[H\x1b[2J" if sys.stdout.isatty() and not args.json else ""
            sys.stdout.write(clear)
            print_rows(rows, _columns(rows), as_json=args.json, nothing=NOTHING)
            sys.stdout.flush()
    return 0


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = call_operation("db.agents.fleet")
    return sorted(rows, key=lambda row: (STATUSES.index(row["status"]), row["id"]))


def _columns(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the columns; with agents on other machines also their host."""
    return {**COLUMNS, "holder": "HOST"} if any(row["holder"] for row in rows) else COLUMNS


def _visible_cells(row: dict[str, Any]) -> list[str]:
    return lines_of([row], COLUMNS)
