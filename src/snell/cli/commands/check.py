"""
Test one component directly; with --jsonl many rows at once, answered in order.

A component is a verb in `commands.json` and a module of `cli/checks`, or of its pack: `check_row(row)`, `lines(row,
answer)` for people, and `exit_code(answer)` if an answer can be a failed check. A row has the arguments by name.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import msgspec

from snell.cli.command_table import ROWS
from snell.model.errors import SnellError
from snell.system.json_output import json_bytes

Row = dict[str, Any]
_NO_QUESTIONS = ("help", "no_color", "json", "jsonl", "exit_code")


def arguments(parser: argparse.ArgumentParser) -> None:
    (parts,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    for name, row in ROWS["check"].verbs.items():
        formats = parts.choices[name].add_mutually_exclusive_group()
        formats.add_argument("--json", action="store_true", help=f"print one JSON object: {row.answer}")
        rows = f"read rows from stdin: {row.row}; print one line per row: its id and the fields of --json"
        formats.add_argument("--jsonl", action="store_true", help=rows)


def run(args: argparse.Namespace) -> int:
    component = import_module(ROWS["check"].verbs[args.component].run or f"snell.cli.checks.{args.component}")
    if args.jsonl:
        # With --jsonl all input comes from stdin.
        given = [each.metavar or each.dest for each in _questions(args) if getattr(args, each.dest) != each.default]
        if given:
            advice = "put it into the rows, or leave out --jsonl"
            raise SnellError(f"`{given[0]}` cannot be combined with --jsonl", advice=advice)
        found = 0
        for line in filter(bytes.strip, sys.stdin.buffer):
            told = _answer(line, component.check_row)
            print(json_bytes(told).decode())
            found |= _exit_code(args, told)
        return found
    row = _row(args)
    answer = component.check_row(row)
    print(json_bytes(answer).decode() if args.json else "\n".join(component.lines(row, answer)))
    exit_code = getattr(component, "exit_code", None)
    return int(exit_code(answer)) if exit_code else _exit_code(args, answer)


def _exit_code(args: argparse.Namespace, answer: Row) -> int:
    return int(getattr(args, "exit_code", False) and str(answer.get("verdict")) == "deny")


def _row(args: argparse.Namespace) -> Row:
    """Return the arguments as a row; a text is read from standard input if it is missing."""
    row = {"here": os.getcwd(), **{each.dest: getattr(args, each.dest) for each in _questions(args)}}
    if "text" in row and row["text"] is None:
        row["text"] = sys.stdin.read()
    missing = [each.dest for each in _questions(args) if not each.option_strings and row[each.dest] is None]
    if missing:
        raise SnellError(
            f"no {missing[0]} was given", advice=f"for example: {ROWS['check'].verbs[args.component].example}"
        )
    return row


def _questions(args: argparse.Namespace) -> list[argparse.Action]:
    return [each for each in args.verb_parser._actions if each.dest not in _NO_QUESTIONS]


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
