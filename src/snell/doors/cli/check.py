"""
Ask one component directly; with --jsonl for many rows at once, answered in order.

A component is a module of `doors/checks`: HELP, EXAMPLE, ROWS, `arguments(parser)`, `ask(row)` and `show(args)`.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import msgspec

from snell.model.errors import SnellError

EXAMPLE = "snell check match 'Edit|Write' Write --event PreToolUse"

Row = dict[str, Any]

COMPONENTS: Mapping[str, str] = {
    "command": "what would the guard say about a command?",
    "match": "does a matcher match a name?",
    "nudge": "which route does a prompt take?",
    "redirect": "what would a command become in a project?",
    "skill": "which skills does a prompt ask for?",
    "secrets": "which secrets are in a text?",
    "signal": "is there anything in a text that is worth remembering?",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="component", required=True, metavar="COMPONENT")
    for name, says in COMPONENTS.items():
        part = parts.add_parser(name, help=says, description=says[0].upper() + says[1:])
        component = import_module(f"snell.doors.checks.{name}")
        part.epilog = f"example:\n  {component.EXAMPLE}"
        part.formatter_class = argparse.RawDescriptionHelpFormatter
        component.arguments(part)
        part.add_argument("--jsonl", action="store_true", help=f"rows on stdin: {component.ROWS}")


def run(args: argparse.Namespace) -> int:
    component = import_module(f"snell.doors.checks.{args.component}")
    if not args.jsonl:
        return int(component.show(args))
    for line in _answers(sys.stdin.buffer, component.ask):
        sys.stdout.write(line + "\n")
    return 0


def _answers(lines: Any, ask: Callable[[Row], Row]) -> Iterator[str]:
    for line in lines:
        if line.strip():
            yield msgspec.json.encode(_answered(line, ask)).decode()


def _answered(line: bytes, ask: Callable[[Row], Row]) -> Row:
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        return {"id": _id_in(line), "error": f"the row is not JSON: {error}"}
    if not isinstance(row, dict):
        return {"id": None, "error": "the row is not an object"}
    try:
        return {"id": row.get("id"), **ask(row)}
    except SnellError as error:
        return {"id": row.get("id"), "error": str(error)}


def _id_in(line: bytes) -> Any:
    """The id of a row that cannot be read as a whole, where the standard library is more forgiving."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row.get("id") if isinstance(row, dict) else None
