"""
Print Claude Code's status line: the output of the user's own command, or a default line.

Afterwards the daemon is told how full the session's context is.
"""

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path

from snell.cli.display_commands import choose_command, default_status, lines_of, session_in, usage_in
from snell.daemon.client import DaemonError, ask
from snell.model.errors import SnellError
from snell.system.paths import places

EXAMPLE = "snell statusline --then 'my-status-line' < session.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--then", default="", metavar="COMMAND", help="the user's own status line command, as set-up found it"
    )


def run(args: argparse.Namespace) -> int:
    payload = sys.stdin.buffer.read()
    session = session_in(payload)
    cwd = session.get("cwd") if isinstance(session.get("cwd"), str) else os.getcwd()
    try:
        choice = choose_command("status_line", args.then, places(os.environ), Path(cwd or "/"), os.environ)
    except SnellError:
        return 0  # a status line must not show errors; `snell doctor` does
    if not choice.is_off:
        lines = lines_of(choice.command, payload, cwd or "/", os.environ) if choice.command else default_status(session)
        print("\n".join(lines))
        sys.stdout.flush()
    _report_usage(session)
    return 0


def _report_usage(session: dict[str, object]) -> None:
    used, name = usage_in(session), session.get("session_id")
    if used and isinstance(name, str) and name:
        with suppress(DaemonError, SnellError):
            ask(places(os.environ).run, "context.usage", {"session_id": name, **used})
