"""
Compiles matchers to predicates.

The rule is Claude Code's published one: empty, `*` or absent matches all; only letters, digits, `_`, `-`, space, `,`
and `|` make a list of exact names; anything else is a regular expression, searched unanchored. One addition: a single
plain name with a trailing `*` is a prefix. An explicit type overrides the guess.
"""

import math
import re
from collections.abc import Callable, Sequence

from snell.model.catalogue import EventRow
from snell.model.errors import PatternError
from snell.model.events import Event, text_in
from snell.model.hooks import Hook
from snell.model.tools import names_of

Predicate = Callable[[str], bool]

TYPES = ("all", "exact", "wildcard", "or", "regex")
LONGEST_PATTERN = 1000
LONGEST_LIST = 50_000  # names of many tools are long, and harmless
MOST_REPEATS = 100_000
TIME_LIMIT = 0.05
SHORT_NAME = 200  # characters in which a simple pattern is found or not in no time

_LIST = r"[A-Za-z0-9_\-, |]*"  # these are compiled when they are first used: most settings need none
_LIST_BAR_ONLY = r"[A-Za-z0-9_|]*"
_DOLLAR = r"(?s:\\.|\[(?:\\.|[^\]\\])*\]|\$)"  # escapes and classes are skipped
_BEGINNING = r"(\^?)([A-Za-z0-9_-]+)(?![*?{])"  # what a pattern begins with and always needs
_CHOICES = r"\(\?|\||\)[*+?{]"  # with which the number of ways to match can grow exponentially


def compile_matcher(pattern: str | None, kind: str | None, row: EventRow) -> Predicate | None:
    """Return a predicate on one name, or None when everything matches. Raises PatternError for an invalid pattern."""
    text = pattern or ""
    longest = LONGEST_LIST if (kind or guess_type(text, row)) == "or" else LONGEST_PATTERN
    if len(text) > longest:
        raise PatternError(f"the pattern has {len(text)} characters", advice=f"keep it under {longest}")
    if kind and kind not in TYPES:
        raise PatternError(f"`{kind}` is not a matcher type", advice=f"use one of {', '.join(TYPES)}")
    if row.matches == "to_model" and kind is None:
        text = re.sub(r"\[[0-9]+m\]$", "", text)  # a matcher may name a model with its context size
    return _BUILDERS[kind or guess_type(text, row)](text, row)


def exact_names(pattern: str | None, kind: str | None, row: EventRow) -> frozenset[str] | None:
    """Return the names of a matcher that is a list of names, or one name; None for every other matcher."""
    text = pattern or ""
    kind = kind or guess_type(text, row)
    if kind == "exact":
        return frozenset((text,))
    return _names_in(text, row) if kind == "or" and row.matches != "to_model" else None


def names_nothing(text: str, kind: str | None, row: EventRow) -> bool:
    """Return whether a matcher can fit no name: a list without a name, or an empty exact name."""
    kind = kind or guess_type(text, row)
    return kind in ("or", "exact", "wildcard") and not text.strip(" ,|")


def guess_type(text: str, row: EventRow) -> str:
    """Return the matcher type that the text stands for."""
    if text in ("", "*"):
        return "all"
    if re.fullmatch(_LIST_BAR_ONLY if row.only_bar_separates else _LIST, text):
        return "or"
    return "wildcard" if re.fullmatch(r"[A-Za-z0-9_\-]+\*", text) else "regex"


def targets(event: Event) -> Sequence[str]:
    """Return the names that a matcher of this event is compared with; empty without the event's field."""
    row = event.row
    if row.matches == "tool_name":
        return event.tool_names
    return value_targets(row, text_in(event.payload, row.matches))


def fits_only_as_shell(hook: Hook, event: Event) -> bool:
    """Return whether the hook was chosen for a shell call, and not for this tool's own name or kind."""
    if hook.kinds and event.kind not in hook.kinds:
        return True
    if not hook.matcher or "Bash" in names_of(event.tool, event.tool_name) or "Bash" not in event.tool_names:
        return False
    try:
        fits = compile_matcher(hook.matcher, hook.matcher_type, event.row)
        return fits is not None and not any(map(fits, names_of(event.tool, event.tool_name)))
    except PatternError:
        return False


def value_targets(row: EventRow, value: str) -> Sequence[str]:
    """Return the names for a value that stands alone, as in `snell check match`."""
    if row.matches == "tool_name":
        return names_of(value)
    if row.matches == "file_path":
        value = value.rpartition("/")[2]
    return (value,) if value else ()


def _names_in(text: str, row: EventRow) -> frozenset[str]:
    parts = text.split("|") if row.only_bar_separates else re.split(r"[,|]", text)
    return frozenset(part.strip() for part in parts) - {""}


def _glob(text: str, _row: EventRow) -> Predicate:
    if "*" not in text[:-1] and "?" not in text and text.endswith("*"):
        return lambda value: value.startswith(text[:-1])
    import regex  # slow to import, and most matchers are plain names

    parts = (".*" if char == "*" else "." if char == "?" else regex.escape(char) for char in text)
    return _searching(regex.compile("".join(parts), regex.DOTALL).fullmatch, text)


def _regular(text: str, _row: EventRow) -> Predicate:
    if math.prod(int(count) for count in re.findall(r"[{,](\d{1,30})(?=[},])", text) if int(count)) > MOST_REPEATS:
        # Compiling unrolls the repeats: ten million of them take seconds and gigabytes.
        raise PatternError(f"`{text}` repeats too often", advice=f"keep the product of its counts under {MOST_REPEATS}")
    import regex  # likewise

    try:
        # JavaScript's \d and \w know ASCII only, and hooks are written for that client.
        # Its `$` is the very end; Python's also matches before a last line break.
        text_end = re.sub(_DOLLAR, lambda found: r"\Z" if found[0] == "$" else found[0], text)
        pattern = regex.compile(text_end, regex.ASCII | regex.VERSION0)
    except (regex.error, ValueError, OverflowError, RecursionError, MemoryError) as error:
        advice = r"escape special characters with a backslash, such as `\(`"
        raise PatternError(f"`{text}` is not a regular expression: {error}", advice=advice) from None
    matches, needed = _searching(pattern.search, text), _needed_text(text)
    if not needed:
        return matches
    if text.startswith("^"):
        return lambda value: value.startswith(needed) and matches(value)
    return lambda value: needed in value and matches(value)


def _needed_text(text: str) -> str:
    """Return text that a pattern needs at its beginning; looking for it first costs little. Empty when unknown."""
    found = None if "|" in text or "(?" in text else re.match(_BEGINNING, text)
    return found[2] if found else ""


def _searching(search: Callable[..., object], text: str) -> Predicate:
    is_simple = not re.search(_CHOICES, text) and sum(map(text.count, "*+{?")) <= 1

    def matches(value: str) -> bool:
        if is_simple and len(value) <= SHORT_NAME:
            return search(value) is not None  # watching the time takes longer than such a search
        try:
            return search(value, timeout=TIME_LIMIT) is not None
        except TimeoutError:
            raise PatternError(f"`{text}` takes too long to match", advice="simplify the pattern") from None

    return matches


_BUILDERS: dict[str, Callable[[str, EventRow], Predicate | None]] = {
    "all": lambda text, row: None,
    "exact": lambda text, row: text.__eq__,
    "or": lambda text, row: _names_in(text, row).__contains__,
    "wildcard": _glob,
    "regex": _regular,
}
