"""Allow the command that the guard denied last, once, after a person has read and confirmed it."""

import argparse
import os
import sys

from snell.cli.call_operation import call_operation
from snell.cli.confirmation import confirm, require_person
from snell.cli.terminal import print_json, visible
from snell.model.errors import SnellError
from snell.packs.guard.one_time_allow import allow_once
from snell.runtime.app import record_admin_action
from snell.system.paths import make_private, places


def run(args: argparse.Namespace) -> int:
    denied = call_operation("guard.denied")
    if not denied:
        raise SnellError("no denied command can be allowed", advice="`snell log --verdict deny` lists denied calls")
    if args.show and args.json:
        print_json(denied)
        return 0
    command, session = _printable(denied["command"]), _printable(denied["session"])
    print(f"denied in session {session}:\n\n    {command}\n\n{_printable(denied['why'])}", flush=True)
    if args.show:
        return 0
    require_person(os.environ, "`snell allow`", args.code, f"allow `{command}` once in session {session}")
    if not confirm("Allow exactly this command once in that session?", args.code):
        print("the command stays denied")
        return 1
    where = places(os.environ)
    make_private(where.state)
    allow_once(where.state, denied["session"], denied["hash"])
    unrecorded = record_admin_action(where, "Allow", f"a person allowed `{command[:200]}` once", denied["session"])
    print("allowed once; tell the agent to try it again")
    if unrecorded:
        print(f"snell: the command is allowed, but this was not recorded: {unrecorded}", file=sys.stderr)
    return 0


def _printable(text: str) -> str:
    """Replace control characters and indent the lines."""
    return "\n    ".join(visible(line, "?") for line in text.splitlines())
