"""Read TOML into values with line numbers: the standard library reads the values, a locator finds their lines."""

import re
import tomllib
from typing import Any

from snell.settings.problems import InvalidValueError
from snell.settings.toml_positions import Position, locate_values
from snell.settings.value_tree import Node, check_depth

# The time to read a dotted key grows with the square of its parts, so a long one could take hours.
_MOST_PARTS = 8
_MOST_DOTTED_WORDS = 100  # anywhere in the text: also text that only looks like a long key takes long
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_NAME = re.compile(rf"(?<![\w.-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MOST_PARTS},}}+")
_AFTER_KEY = re.compile(r"[ \t]*[=\]]")
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(text: str) -> Node | None:
    """Return the table in a text; None for an empty text. Raises InvalidValueError."""
    for found in _LONG_NAME.finditer(text):
        if _AFTER_KEY.match(text, found.end()) or found.group().count(".") > _MOST_DOTTED_WORDS:
            line = text.count("\n", 0, found.start()) + 1
            raise InvalidValueError(f"a key has more than {_MOST_PARTS} parts", line, "use fewer dots")
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise InvalidValueError("values are nested too deep", 1, "flatten them") from None
    except ValueError as error:
        raise _syntax_error(str(error), text) from None
    return _with_lines(values, locate_values(text), 1, 0) if values else None


def _syntax_error(message: str, text: str) -> InvalidValueError:
    place = _PLACE.search(message)
    line = int(place.group(1)) if place and place.group(1) else text.rstrip("\n").count("\n") + 1
    text = _PLACE.sub("", message)
    return InvalidValueError(f"this is not valid TOML: {text[:1].lower()}{text[1:200]}", line, "correct that line")


def _with_lines(value: Any, spot: Position | None, line: int, depth: int) -> Node:
    """Combine values with their lines; a value that the locator did not find has the line of its parent."""
    line = spot.line if spot else line
    check_depth(depth, line)
    inside = spot.inside if spot else {}
    if isinstance(value, dict):
        members = {key: _with_lines(each, inside.get(key), line, depth + 1) for key, each in value.items()}
        return Node(members, line)
    if isinstance(value, list):
        return Node([_with_lines(each, inside.get(n), line, depth + 1) for n, each in enumerate(value)], line)
    return Node(value, line)
