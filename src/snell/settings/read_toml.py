"""TOML to values that know their line: the standard library reads the values, a locator finds their lines."""

import re
import tomllib
from typing import Any

from snell.settings.problems import InvalidValueError
from snell.settings.toml_positions import Position, locate_values
from snell.settings.value_tree import Node, check_depth

# Reading a dotted key takes the square of its parts, so a long one could stall us for hours.
_MOST_PARTS = 8
_MOST_DOTTED_WORDS = 100  # wherever they stand: a long key is costly before it turns out to be none
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_NAME = re.compile(rf"(?<![\w.-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MOST_PARTS},}}+")
_AFTER_KEY = re.compile(r"[ \t]*[=\]]")
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(text: str) -> Node | None:
    """The table that the text holds; None when it holds nothing. Raises WrongError."""
    for found in _LONG_NAME.finditer(text):
        if _AFTER_KEY.match(text, found.end()) or found.group().count(".") > _MOST_DOTTED_WORDS:
            line = text.count("\n", 0, found.start()) + 1
            raise InvalidValueError(f"a key has more than {_MOST_PARTS} parts", line, "use fewer dots")
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise InvalidValueError("values are nested too deep", 1, "flatten them") from None
    except ValueError as error:
        raise _explained(str(error), text) from None
    return _joined(values, locate_values(text), 1, 0) if values else None


def _explained(message: str, text: str) -> InvalidValueError:
    place = _PLACE.search(message)
    line = int(place.group(1)) if place and place.group(1) else text.rstrip("\n").count("\n") + 1
    said = _PLACE.sub("", message)
    return InvalidValueError(f"this is not valid TOML: {said[:1].lower()}{said[1:200]}", line, "mend that line")


def _joined(value: Any, spot: Position | None, line: int, depth: int) -> Node:
    """Value and place in one; what the locator did not find takes the line of what it stands in."""
    line = spot.line if spot else line
    check_depth(depth, line)
    inside = spot.inside if spot else {}
    if isinstance(value, dict):
        members = {key: _joined(each, inside.get(key), line, depth + 1) for key, each in value.items()}
        return Node(members, line)
    if isinstance(value, list):
        return Node([_joined(each, inside.get(n), line, depth + 1) for n, each in enumerate(value)], line)
    return Node(value, line)
