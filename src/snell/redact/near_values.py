"""
Find the value near the name of a secret, whatever joins the two: signs, words, tags or the end of a line.

`contexts` and `config_values` know what a notation means by its signs. This module knows no notation. It passes over
what can join a name to a value, and asks of the value alone whether a person or a program made it up.
"""

from snell.redact.format_rules import Span
from snell.redact.named_values import is_plain, name_at, name_before
from snell.redact.pattern_file import PATTERNS
from snell.redact.secret_names import kind_of_name, strength_of
from snell.redact.value_shape import is_blank, is_fingerprint, is_invented, is_random

_CLOSING = {"「": "」", "『": "』", "“": "”", "«": "»", "‘": "’", "„": "“"}


def near_value(text: str, at: int) -> Span | None:
    """Return the value that follows the name at this position, if it looks made up."""
    begins, name = at - len(name_before(text, at)), name_at(text, at).rstrip("-._")
    sort = _sort_of(text, begins, name)
    if not sort or begins + len(name) <= at:
        return None
    joins = {"sign": PATTERNS.by_sign, "line": PATTERNS.by_line, "word": PATTERNS.by_word, "space": PATTERNS.by_space}
    for join, pattern in joins.items():
        found = pattern.match(text, begins + len(name))
        if found and (span := _value(text, found.end(), sort, join)):
            return (*span, "pin" if sort == "pin" else kind_of_name(name))
    return None


def _sort_of(text: str, begins: int, name: str) -> str:
    """Return what the value should look like: a password, a key or a number; nothing if no secret has this name."""
    if PATTERNS.no_name_before.search(text, max(0, begins - 80), begins):
        return ""
    if PATTERNS.pin_name.search(text, max(0, begins - 24), begins + len(name)):
        return "pin"
    strength = strength_of(name)
    if strength == "password" or name.lower() in {"pw", "credentials", "creds"}:
        return "password"
    if name.lower() == "pass" and PATTERNS.by_sign.match(text, begins + 4):
        return "password"
    if strength == "strong" or PATTERNS.key_name.search(text, max(0, begins - 24), begins + len(name)):
        return "key"
    return ""


def _value(text: str, at: int, sort: str, join: str) -> tuple[int, int] | None:
    """Return where the value at this position begins and ends, if it looks like one of this sort."""
    found = PATTERNS.made_up_value.match(text, at)
    if not found:
        return None
    start, end = found.span(2)
    if found[1]:
        close = text.find(_CLOSING.get(found[1], found[1]), start, start + 256)
        end = close if 0 <= close and "\n" not in text[start:close] else end
    value = text[start:end] if found[1] else text[start:end].rstrip(".,;:!?…*_")
    if join == "line" and not PATTERNS.line_ends.match(text, start + len(value)):
        return None
    return (start, start + len(value)) if _is_of(sort, value, join) else None


def _is_of(sort: str, value: str, join: str) -> bool:
    if is_blank(value):
        return False
    if sort == "pin":
        return bool(PATTERNS.pin.fullmatch(value))
    is_close = join in {"sign", "line"}
    if sort == "key":
        is_key = is_random(value, 16) and not is_plain(value) and not (is_fingerprint(value) and not is_close)
        return (is_key and not PATTERNS.no_invention.search(value)) or (is_close and is_invented(value, strict=True))
    return is_invented(value, strict=not is_close and join != "word")
