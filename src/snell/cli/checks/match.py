"""Test a matcher against a name."""

import json
import re
from collections.abc import Iterator

from snell.engine.match import compile_matcher, guess_type, value_targets
from snell.model.catalogue import CATALOGUE, COMMON_EVENTS, EventRow, canonical, did_you_mean
from snell.model.errors import PatternError
from snell.settings.check_rows import Row, text_in


def check_row(row: Row) -> Row:
    """Match the name of one row."""
    return {"match": _matches(row)}


def exit_code(answer: Row) -> int:
    return 0 if answer["match"] else 1


def lines(row: Row, answer: Row) -> Iterator[str]:
    """Yield whether the matcher matches, and how it was read."""
    yield "matches" if answer["match"] else "does not match"
    yield from (f"  {line}" for line in _how_it_was_read(row["pattern"], row["type"], _event_row(row["event"])))


def _how_it_was_read(pattern: str, kind: str | None, event: EventRow) -> Iterator[str]:
    if not event.matches:
        yield f"{event.name} has no field to match, so every matcher matches"
        return
    guessed = guess_type(pattern, event).replace("wildcard", "prefix")
    yield f"`{pattern}` was read as {_READ_AS[kind or guessed]}"
    yield f"it is compared with the `{event.matches}` of {event.name}"
    if event.matches == "tool_name" and _RULE.fullmatch(pattern):
        yield f"it looks like a permission rule; write that as `if = {json.dumps(pattern)}`"


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
    pattern, value = text_in(row, "pattern", ""), text_in(row, "value", "")
    event = _event_row(text_in(row, "event", "") or "PreToolUse")
    if not event.matches:
        return True  # on an event without a field to match, matchers are ignored
    predicate = compile_matcher(pattern, text_in(row, "type", "") or None, event)
    return predicate is None or any(map(predicate, value_targets(event, value)))


def _event_row(name: str) -> EventRow:
    row = CATALOGUE.get(canonical(name))
    if row is None:
        raise PatternError(f"unknown event `{name}`", advice=did_you_mean(name, otherwise=COMMON_EVENTS))
    return row
