"""Generate a short text that a pattern may accept; the caller checks whether it does."""

import re
from re import _parser as parser  # type: ignore[attr-defined] # not documented, and the same since 3.11
from typing import Any

LONGEST = 200
_CLASS_EXAMPLES = {"CATEGORY_DIGIT": "0", "CATEGORY_WORD": "a", "CATEGORY_SPACE": " ", "CATEGORY_NOT_DIGIT": "a"}
_OTHERS = "aA0 -_./"


def text_for(pattern: Any) -> str:
    """Return a text for a pattern; empty if none can be generated."""
    if not isinstance(pattern, str) or len(pattern) > LONGEST:
        return ""
    try:
        return _text_of_all(parser.parse(pattern))[:LONGEST]
    except (re.error, OverflowError, RecursionError, ValueError):
        return ""


def _text_of_all(parts: Any) -> str:
    return "".join(_text_of(str(kind), value) for kind, value in parts)


def _text_of(kind: str, value: Any) -> str:
    if kind == "LITERAL":
        return chr(value)
    if kind == "ANY":
        return "a"
    if kind == "NOT_LITERAL":
        return "b" if value == ord("a") else "a"
    if kind == "IN":
        return _text_of_set(value)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, inner = value
        return _text_of_all(inner) * min(max(int(least), 1 if int(most) else 0), LONGEST)
    if kind == "SUBPATTERN":
        return _text_of_all(value[-1])
    return _text_of_all(value[1][0]) if kind == "BRANCH" else ""


def _text_of_set(members: Any) -> str:
    first = members[0]
    if str(first[0]) == "NEGATE":
        taken = re.compile("|".join(re.escape(chr(v)) for k, v in members[1:] if str(k) == "LITERAL") or "(?!)")
        return next((each for each in _OTHERS if not taken.match(each)), "a")
    if str(first[0]) == "RANGE":
        return chr(first[1][0])
    return _CLASS_EXAMPLES.get(str(first[1]), "a") if str(first[0]) == "CATEGORY" else chr(first[1])
