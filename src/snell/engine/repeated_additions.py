"""Recognise a rewrite that adds a text once more, where the same hook has added it and it still is."""

from collections.abc import Iterator
from typing import Any

from snell.model.decision import Change
from snell.model.events import json_equal


def is_repeated(earlier: Change, now: Any, wanted: Any) -> bool:
    """Return whether a hook that made this change earlier would only add the same texts again, to what is there now."""
    if not isinstance(now, dict):
        return _adds_again(earlier.before, earlier.after, now, wanted)
    values = (earlier.before, earlier.after, now, wanted)
    changed = [key for key in wanted if key not in now or not json_equal(now[key], wanted[key])]
    return len(now) == len(wanted) and all(_adds_again(*(each.get(key) for each in values)) for key in changed)


def _adds_again(before: Any, after: Any, now: Any, wanted: Any) -> bool:
    if not all(isinstance(each, str) and each for each in (before, after, now, wanted)):
        return False
    return any(
        wanted == f"{head}{now}{tail}" and _is_between(now, head, tail) and not _is_between(before, head, tail)
        for head, tail in _additions(before, after)
    )


def _additions(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield what was put before and after a text: in front of it, behind it, or around it."""
    if after.endswith(before):
        yield after[: -len(before)], ""
    head, found, tail = after.partition(before)
    if found:
        yield head, tail


def _is_between(text: str, head: str, tail: str) -> bool:
    return len(text) >= len(head) + len(tail) and text.startswith(head) and text.endswith(tail)
