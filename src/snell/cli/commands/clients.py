"""List the supported clients: tier, found on this machine, what each can do with a reply, installed or not."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.colours import Colours
from snell.setup.status import client_rows

EXAMPLE = "snell clients"
COLUMNS = ("client", "tier", "found", "block", "rewrite", "inject", "stop", "mcp", "rules", "installed")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--found", action="store_true", help="only clients found on this machine")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")


def run(args: argparse.Namespace) -> int:
    rows = [row for row in client_rows(os.environ, Path.cwd()) if row["found"] or not args.found]
    if args.json:
        print(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
        return 0
    lines = [[_cell(row[name]) for name in COLUMNS] for row in rows]
    for line in _align([list(COLUMNS), *lines]):
        print(line)
    for row in rows:
        if row["off"]:
            print(f"{row['client']}: hooks are disabled in this client: {row['off']}")
        if row["problem"]:
            print(f"{row['client']}: {row['problem']}")
    return 0


def _cell(value: Any) -> str:
    return {True: "yes", False: "-"}[value] if isinstance(value, bool) else str(value)


def _align(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[number]) for line in lines) for number in range(len(lines[0]))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return [Colours.for_stdout().bold(text[0]), *text[1:]]
