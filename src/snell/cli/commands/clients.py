"""List the supported clients: tier, found on this machine, what each can do with a reply, installed or not."""

import argparse
import os
from pathlib import Path
from typing import Any

from snell.cli.active_hooks import needed_options
from snell.cli.terminal import Colours, align, fit, print_json
from snell.setup.plan import Options
from snell.setup.status import NOT_APPROVED, client_rows
from snell.system.paths import places

COLUMNS = ("client", "tier", "found", "block", "rewrite", "inject", "stop", "mcp", "rules", "installed")

_LEGEND = """\
tier       1: hooks as Snell has them, 2: hooks that Snell translates, 3: no hooks, only the MCP server and rules
found      its program or its folder is on this machine
block      a hook can refuse a call; rewrite: change it; inject: add context for the model; stop: end the turn
mcp rules  set-up can add Snell's MCP server, and rules for the model
installed  `snell setup CLIENT` connects a client, `snell setup CLIENT --check` says what is missing; -: no need"""


def run(args: argparse.Namespace) -> int:
    options = needed_options(Options(), places(os.environ), Path.cwd(), os.environ)
    rows = [row for row in client_rows(os.environ, Path.cwd(), options) if row["found"] or not args.found]
    if args.json:
        print_json(rows, indent=2)
        return 0
    if not rows:
        print("no client was found on this machine; `snell clients` lists those that Snell knows")
        return 0
    head, *rest = align([list(COLUMNS), *([_cell(row[name]) for name in COLUMNS] for row in rows)])
    print(Colours.for_stdout().bold(head), *rest, "", *(fit(line, 11) for line in _LEGEND.splitlines()), sep="\n")
    for row in rows:
        if row["off"]:
            print(f"{row['client']}: hooks are disabled in this client: {row['off']}")
        if row["installed"] == "not approved":
            print(f"{row['client']}: {NOT_APPROVED}; the approval is missing in {row['not_approved']}")
        if row["problem"]:
            print(f"{row['client']}: {row['problem']}")
    return 0


def _cell(value: Any) -> str:
    return "yes" if value is True else "-" if value is False or value == "nothing to install" else str(value)
