"""Suggest files to Claude Code: the output of the user's own command, or the project's files by name."""

import argparse
import os
import sys
from pathlib import Path

from snell.cli.display_commands import choose_command, default_suggestions, lines_of, session_in
from snell.model.errors import SnellError
from snell.system.paths import places

EXAMPLE = """echo '{"query": "read"}' | snell suggest-files"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--then", default="", metavar="COMMAND", help="the user's own command, as set-up found it")


def run(args: argparse.Namespace) -> int:
    payload = sys.stdin.buffer.read()
    given = session_in(payload)
    cwd = str(given.get("cwd") or os.getcwd())
    query = given.get("query") if isinstance(given.get("query"), str) else ""
    try:
        choice = choose_command("file_suggestion", args.then, places(os.environ), Path(cwd), os.environ)
    except SnellError:
        return 0
    if choice.is_off:
        return 0
    if choice.command:
        found = lines_of(choice.command, payload, cwd, os.environ)
    else:
        found = default_suggestions(query or "", cwd, os.environ)
    for path in found:
        print(path)
    return 0
