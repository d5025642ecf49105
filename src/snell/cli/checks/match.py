"""Test a matcher against a name."""

import argparse
import json
import re
from collections.abc import Iterator
from typing import Any

from snell.engine.match import compile_matcher, guess_type, value_targets
from snell.model.catalogue import CATALOGUE, EventRow, canonical, nearest
from snell.model.errors import PatternError, SnellError

EXAMPLE = "snell check match 'Edit|Write' Write --event PreToolUse"
ROWS = "{id, pattern, value, event?, type?}"
ANSWER = "{match}"

Row = dict[str, Any]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pattern", nargs="?", help="the matcher")
    parser.add_argument("value", nargs="?", help="the name to match")
    parser.add_argument("--event", default="PreToolUse", help="the event of the matcher (default: PreToolUse)")
    parser.add_argument("--type", help="all, exact, wildcard, or, regex (default: guessed from the pattern)")


def check_row(row: Row) -> Row:
    """Match the name of one row."""
    return {"match": _matches(row)}


def check_arguments(args: argparse.Namespace) -> Row:
    """Match the name on the command line."""
    if args.pattern is None or args.value is None:
        raise SnellError("a pattern and a value are needed", advice=f"for example: {EXAMPLE}")
    return check_row({"pattern": args.pattern, "value": args.value, "event": args.event, "type": args.type})


def exit_code(answer: Row) -> int:
    return 0 if answer["match"] else 1


def print_result(args: argparse.Namespace) -> int:
    """Print whether the matcher matches, and how it was read."""
    found = check_arguments(args)
    print("matches" if found["match"] else "does not match")
    for line in _how_it_was_read(args.pattern, args.type, _event_row(args.event)):
        print(f"  {line}")
    return exit_code(found)


def _how_it_was_read(pattern: str, kind: str | None, event: EventRow) -> Iterator[str]:
    if not event.matches:
        yield f"{event.name} has no field to match, so every matcher matches"
        return
    yield f"`{pattern}` was read as {_READ_AS[kind or _guess_kind(pattern, event)]}"
    yield f"it is compared with the `{event.matches}` of {event.name}"
    if event.matches == "tool_name" and _RULE.fullmatch(pattern):
        yield f"it looks like a permission rule; write that as `if = {json.dumps(pattern)}`"


def _guess_kind(pattern: str, event: EventRow) -> str:
    kind = guess_type(pattern, event)
    return "prefix" if kind == "wildcard" else kind


_RULE = re.compile(r"\w+\(.*\)")
_READ_AS = {
    "all": "everything",
    "exact": "one exact name",
    "or": "a list of exact names",
    "prefix": "a prefix",
    "wildcard": "a wildcard, in which `*` stands for any characters and `?` for one",
    "regex": "a regular expression, which may match anywhere in the name",
}


def _matches(row: Row) -> bool:
    pattern, value = _text(row, "pattern"), _text(row, "value")
    event = _event_row(_text(row, "event") or "PreToolUse")
    if not event.matches:
        return True  # on an event without a field to match, matchers are ignored
    predicate = compile_matcher(pattern, _text(row, "type"), event)
    if predicate is None:
        return True
    return any(predicate(name) for name in value_targets(event, value or ""))


def _event_row(name: str) -> EventRow:
    row = CATALOGUE.get(canonical(name))
    if row is None:
        near = nearest(name)
        raise PatternError(f"unknown event `{name}`", advice=f"did you mean `{near}`?" if near else "")
    return row


def _text(row: Row, field: str) -> str | None:
    value = row.get(field)
    if value is not None and not isinstance(value, str):
        raise PatternError(f"`{field}` is {type(value).__name__}, not text")
    return value
