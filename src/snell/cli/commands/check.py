"""
Test one component directly; with --jsonl many rows at once, answered in order.

A component is a module of `cli/checks`: EXAMPLE, ROWS, ANSWER, `arguments(parser)`, `check_row(row)` for --jsonl,
`check_arguments(args)` for --json, `print_result(args)` for people, and `exit_code(answer)` if an answer can be a
failed check.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

import msgspec

from snell.model.errors import SnellError
from snell.system.json_output import json_bytes

EXAMPLE = "snell check match 'Edit|Write' Write --event PreToolUse"

Row = dict[str, Any]

COMPONENTS: Mapping[str, str] = {
    "command": "judge a command with the guard",
    "match": "test a matcher against a name",
    "nudge": "show what the nudges pack would add to a prompt",
    "redirect": "show how the toolchain pack would rewrite a command",
    "skill": "show which skills a prompt would load",
    "secrets": "find secrets in a text",
    "signal": "test whether a text is worth remembering",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="component", required=True, metavar="COMPONENT")
    for name, says in COMPONENTS.items():
        part = parts.add_parser(name, help=says, description=says[0].upper() + says[1:])
        component = import_module(f"snell.cli.checks.{name}")
        part.epilog = f"example:\n  {component.EXAMPLE}"
        part.formatter_class = argparse.RawDescriptionHelpFormatter
        component.arguments(part)
        formats = part.add_mutually_exclusive_group()
        formats.add_argument("--json", action="store_true", help=f"print one JSON object: {component.ANSWER}")
        rows = f"read rows from stdin: {component.ROWS}; print one line per row: its id and the fields of --json"
        formats.add_argument("--jsonl", action="store_true", help=rows)
        part.set_defaults(part=part)


def run(args: argparse.Namespace) -> int:
    component = import_module(f"snell.cli.checks.{args.component}")
    if args.json:
        return _print_answer(component, args)
    if not args.jsonl:
        return int(component.print_result(args))
    _refuse_words_beside_rows(args)
    for line in _answers(sys.stdin.buffer, component.check_row):
        sys.stdout.write(line + "\n")
    return 0


def _print_answer(component: ModuleType, args: argparse.Namespace) -> int:
    answer = component.check_arguments(args)
    print(json_bytes(answer).decode())
    exit_code = getattr(component, "exit_code", None)
    return int(exit_code(answer)) if exit_code else 0


def _refuse_words_beside_rows(args: argparse.Namespace) -> None:
    """Raise SnellError if the command line has arguments too: with --jsonl all input comes from stdin."""
    questions = [each for each in args.part._actions if each.dest not in ("help", "json", "jsonl")]
    given = [each.metavar or each.dest for each in questions if getattr(args, each.dest) != each.default]
    if given:
        raise SnellError(
            f"`{given[0]}` cannot be combined with --jsonl", advice="put it into the rows, or leave out --jsonl"
        )


def _answers(lines: Any, check_row: Callable[[Row], Row]) -> Iterator[str]:
    for line in lines:
        if line.strip():
            yield json_bytes(_answer(line, check_row)).decode()


def _answer(line: bytes, check_row: Callable[[Row], Row]) -> Row:
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        return {"id": _id_in(line), "error": f"the row is not JSON: {error}"}
    if not isinstance(row, dict):
        return {"id": None, "error": "the row is not an object"}
    try:
        return {"id": row.get("id"), **check_row(row)}
    except SnellError as error:
        return {"id": row.get("id"), "error": str(error)}


def _id_in(line: bytes) -> Any:
    """Return the id of an invalid row if the standard library, which is more tolerant, can parse it."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row.get("id") if isinstance(row, dict) else None
