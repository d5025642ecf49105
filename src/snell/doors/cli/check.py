"""Ask one component directly; with --jsonl for many rows at once, answered in order."""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from snell.engine.match import compiled, guessed_type, value_targets
from snell.model.catalogue import CATALOGUE, EventRow, canonical, nearest
from snell.model.errors import PatternError, SnellError

EXAMPLE = "snell check match 'Edit|Write' Write --event PreToolUse"

Row = dict[str, Any]


def arguments(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="component", required=True, metavar="COMPONENT")
    match = parts.add_parser("match", help="does a matcher match a name?", description="Does a matcher match a name?")
    match.add_argument("pattern", nargs="?", help="the matcher")
    match.add_argument("value", nargs="?", help="the name")
    match.add_argument("--event", default="PreToolUse", help="whose matcher it is (default: PreToolUse)")
    match.add_argument("--type", help="all, exact, wildcard, or, regex; default: guessed from the text")
    match.add_argument("--jsonl", action="store_true", help="rows on stdin: {id, pattern, value, event?, type?}")


def run(args: argparse.Namespace) -> int:
    if args.jsonl:
        for line in _answers(sys.stdin.buffer, _match):
            sys.stdout.write(line + "\n")
        return 0
    if args.pattern is None or args.value is None:
        raise SnellError("give a pattern and a value", advice=f"for example: {EXAMPLE}")
    row = {"pattern": args.pattern, "value": args.value, "event": args.event, "type": args.type}
    matches = _matches(row)
    print("matches" if matches else "does not match")
    for line in _how_it_was_read(args.pattern, args.type, _event_row(args.event)):
        print(f"  {line}")
    return 0 if matches else 1


def _how_it_was_read(pattern: str, kind: str | None, event: EventRow) -> Iterator[str]:
    if not event.matches:
        yield f"{event.name} has nothing to match, so every matcher matches"
        return
    yield f"`{pattern}` was read as {_READ_AS[kind or _guessed(pattern, event)]}"
    yield f"it is compared with the `{event.matches}` of {event.name}"
    if event.matches == "tool_name" and _RULE.fullmatch(pattern):
        yield f"it looks like a permission rule, which belongs into `if`: if = {json.dumps(pattern)}"


def _guessed(pattern: str, event: EventRow) -> str:
    kind = guessed_type(pattern, event)
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
    return ask(row)


def _id_in(line: bytes) -> Any:
    """The id of a row that cannot be read as a whole, where the standard library is more forgiving."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row.get("id") if isinstance(row, dict) else None


def _match(row: Row) -> Row:
    try:
        return {"id": row.get("id"), "match": _matches(row)}
    except SnellError as error:
        return {"id": row.get("id"), "error": str(error)}


def _matches(row: Row) -> bool:
    pattern, value = _text(row, "pattern"), _text(row, "value")
    event = _event_row(_text(row, "event") or "PreToolUse")
    if not event.matches:
        return True  # on an event that has nothing to match a matcher is ignored
    predicate = compiled(pattern, _text(row, "type"), event)
    if predicate is None:
        return True
    return any(predicate(name) for name in value_targets(event, value or ""))


def _event_row(name: str) -> EventRow:
    row = CATALOGUE.get(canonical(name))
    if row is None:
        near = nearest(name)
        raise PatternError(f"there is no event `{name}`", advice=f"did you mean `{near}`?" if near else "")
    return row


def _text(row: Row, field: str) -> str | None:
    value = row.get(field)
    if value is not None and not isinstance(value, str):
        raise PatternError(f"`{field}` is {type(value).__name__}, not text")
    return value
