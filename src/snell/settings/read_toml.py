"""
Read TOML into values with line numbers: the standard library reads the values, a locator finds their lines.

The locator checks nothing, because the text is valid already: a mistake in it causes a wrong line number in a message,
never a wrong value.
"""

import re
import tomllib
from typing import Any

from msgspec import Struct, field

from snell.settings.value_tree import InvalidValueError, Lines, Node, check_depth
from snell.system.lazy_regex import lazy_regex

# The time to read a dotted key grows with the square of its parts, so a long one could take hours.
_MOST_PARTS = 8
_MOST_DOTTED_WORDS = 100  # anywhere in the text: also text that only looks like a long key takes long
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_NAME = lazy_regex(rf"(?<![\w.-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MOST_PARTS},}}")
_AFTER_KEY = lazy_regex(r"[ \t]*[=\]]")
_PLACE = lazy_regex(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_BLANK = lazy_regex(r"(?:[ \t\r\n]+|#[^\n]*)*")
_KEY = lazy_regex(r"""[ \t]*(?:([A-Za-z0-9_-]+)|"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')[ \t]*""")
_LONG_TEXT = r"""\"{3}(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}|'{3}(?:[^']|'{1,2}(?!'))*'{3,5}"""
_SCALAR = lazy_regex(rf"""{_LONG_TEXT}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\n,\]}}#]*""", re.DOTALL)


class Position(Struct):
    """The line of a value, and the positions of its members, by key or by number."""

    line: int
    inside: dict[str | int, "Position"] = field(default_factory=dict)


class TableLines(Struct):
    """The lines of a table, from its header to its last value; they are counted from 0."""

    name: tuple[str, ...]
    is_entry: bool  # of an array of tables
    first: int
    last: int


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
    return _with_lines(values, _Locator(text).document(), 1, 0) if values else None


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
        value = {key: _with_lines(each, inside.get(key), line, depth + 1) for key, each in value.items()}
    elif isinstance(value, list):
        value = [_with_lines(each, inside.get(number), line, depth + 1) for number, each in enumerate(value)]
    return Node(value, line)


def locate_tables(text: str) -> list[TableLines]:
    """Return the lines of all tables with a header in a valid TOML text."""
    locator = _Locator(text)
    locator.document()
    return locator.tables


class _Locator:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self.tables: list[TableLines] = []

    def document(self) -> Position:
        root = table = Position(1)
        position = self.after(_BLANK, 0)
        while position < len(self.text):
            start = position
            if self.text.startswith("[", position):
                table, position = self.header(root, position)
            else:
                position = self.pair(table, position, 0)
                if self.tables:
                    self.tables[-1].last = self.lines.at(position - 1) - 1
            position = self.after(_BLANK, max(position, start + 1))
        return root

    def after(self, pattern: re.Pattern[str], position: int) -> int:
        found = pattern.match(self.text, position)
        return found.end() if found else position

    def header(self, root: Position, position: int) -> tuple[Position, int]:
        line = self.lines.at(position)
        is_entry = self.text.startswith("[[", position)
        path, position = self.key(position + (2 if is_entry else 1))
        self.tables.append(TableLines(tuple(path), is_entry, line - 1, line - 1))
        spot = root
        for part in path[:-1]:
            spot = spot.inside.setdefault(part, Position(line))
            spot = spot.inside.get(len(spot.inside) - 1, spot)  # the last entry, of an array of tables
        last = spot.inside.setdefault(path[-1], Position(line)) if path else spot
        if is_entry:
            entry = last.inside[len(last.inside)] = Position(line)
            return entry, position + 2
        # A table may be opened after its own sub-tables; then its real line is this one.
        last.line = line
        return last, position + 1

    def key(self, position: int) -> tuple[list[str], int]:
        path: list[str] = []
        while found := _KEY.match(self.text, position):
            bare, basic, literal = found.groups()
            plain = str(tomllib.loads(f'key = "{basic}"')["key"]) if "\\" in (basic or "") else basic or ""
            path.append(bare or literal or plain)
            position = found.end()
            if not self.text.startswith(".", position):
                break
            position += 1
        return path, position

    def pair(self, table: Position, position: int, depth: int) -> int:
        line = self.lines.at(position)
        path, position = self.key(position)
        spot = table
        for part in path[:-1]:
            spot = spot.inside.setdefault(part, Position(line))
        found, position = self.value(self.after(_BLANK, position + 1), depth)
        found.line = line
        if path:
            spot.inside[path[-1]] = found
        return position

    def value(self, position: int, depth: int) -> tuple[Position, int]:
        spot = Position(self.lines.at(position))
        check_depth(depth, spot.line)
        closing = {"[": "]", "{": "}"}.get(self.text[position : position + 1])
        return spot, self.members(spot, position, depth + 1, closing) if closing else self.after(_SCALAR, position)

    def members(self, spot: Position, position: int, depth: int, closing: str) -> int:
        """Add the positions of the members of a list or an inline table, and return the position after it."""
        position = self.after(_BLANK, position + 1)
        while position < len(self.text) and not self.text.startswith(closing, position):
            start = position
            if closing == "}":
                position = self.pair(spot, position, depth)
            else:
                spot.inside[len(spot.inside)], position = self.value(position, depth)
            position = self.after(_BLANK, max(position, start + 1))
            if self.text.startswith(",", position):
                position = self.after(_BLANK, position + 1)
        return position + 1
