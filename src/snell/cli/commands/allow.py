"""Let the command that the guard denied last pass, once: for a person who has read it."""

import argparse
import os
import sys

from snell.cli.call_operation import call_operation
from snell.cli.confirmation import confirm, require_terminal
from snell.model.errors import SnellError
from snell.packs.guard.one_time_allow import allow_once
from snell.runtime.admin_log import record_admin_action
from snell.system.paths import make_private, places

EXAMPLE = "snell allow"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--show", action="store_true", help="only show what was denied last")


def run(args: argparse.Namespace) -> int:
    denied = call_operation("guard.denied")
    if not denied:
        raise SnellError("the guard has denied nothing that could be allowed", advice="`snell log` shows what it did")
    command, session = _shown(denied["command"]), _shown(denied["session"])
    print(f"denied in session {session}:\n\n    {command}\n\n{_shown(denied['why'])}", flush=True)
    if args.show:
        return 0
    require_terminal(os.environ, "`snell allow`")
    if not confirm("let exactly this command pass once in that session?"):
        print("it stays denied")
        return 1
    where = places(os.environ)
    make_private(where.state)
    allow_once(where.state, denied["session"], denied["hash"])
    told = f"a person lets `{command[:200]}` pass once"
    unrecorded = record_admin_action(where, "Allow", told, denied["session"])
    print("it may pass once; tell the agent to try it again")
    if unrecorded:
        print(f"snell: it holds, but there is no record of it: {unrecorded}", file=sys.stderr)
    return 0


def _shown(text: str) -> str:
    """Nothing that a terminal would act on."""
    return "\n    ".join("".join(char if char.isprintable() else "?" for char in line) for line in text.splitlines())
