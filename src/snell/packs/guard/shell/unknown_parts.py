"""
Gaps inside a word: `r${z}m`, `--force${x}`.

A variable that nobody has set is most likely empty, and then the letters around it are the word. Such a line is judged
both ways. A gap that is a whole part of a path or a value (`$DIR/build`, `name=$X`) is left a gap.
"""

from snell.packs.guard.shell.known_values import UNKNOWN, Value
from snell.system.lazy_regex import lazy_regex

_INSIDE = lazy_regex(rf"(?<=[A-Za-z0-9]){UNKNOWN}+|{UNKNOWN}+(?=[A-Za-z0-9])|^{UNKNOWN}+(?=-)")


def without_unknown_parts(row: list[Value]) -> list[Value] | None:
    """The words as they are when the gaps in them hold nothing; None where that makes no difference."""
    if not any(UNKNOWN in value.text for value in row):
        return None
    words = [
        Value(text_without_unknown_parts(value.text), value.labels) if UNKNOWN in value.text else value for value in row
    ]
    return words if words != row else None


def text_without_unknown_parts(text: str) -> str:
    return _INSIDE.sub("", text)


def is_unset(value: Value) -> bool:
    """Nothing at all is known of it but the name of a variable."""
    return bool(value.text) and not value.text.strip(UNKNOWN + "/ ") and value.has("variable")
