"""
Find the lines of values in a TOML file.

The standard library has read the text already, so nothing is checked here: a mistake causes a wrong line number in a
message, never a wrong value.
"""

import re

from msgspec import Struct, field

from snell.settings.value_tree import Lines, check_depth

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')[ \t]*""")
_SCALAR = re.compile(r"[^\n,\]}#]*")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_LONG_BASIC_END = re.compile(r'\\.|"{3,5}', re.DOTALL)
_LONG_LITERAL_END = re.compile(r"'{3,5}")


class Position(Struct):
    """The line of a value, and the positions of its members, by key or by number."""

    line: int
    inside: dict[str | int, "Position"] = field(default_factory=dict)


def locate_values(text: str) -> Position:
    """Return the positions of all values in a valid TOML text."""
    return _Locator(text).document()


class _Locator:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)

    def document(self) -> Position:
        root = table = Position(1)
        position = self.after_blanks(0)
        while position < len(self.text):
            start = position
            if self.text.startswith("[", position):
                table, position = self.header(root, position)
            else:
                position = self.pair(table, position, 0)
            position = self.after_blanks(max(position, start + 1))
        return root

    def after_blanks(self, position: int) -> int:
        found = _BLANK.match(self.text, position)
        return found.end() if found else position

    def header(self, root: Position, position: int) -> tuple[Position, int]:
        line = self.lines.at(position)
        is_entry = self.text.startswith("[[", position)
        path, position = self.key(position + (2 if is_entry else 1))
        spot = root
        for part in path[:-1]:
            spot = _newest(spot.inside.setdefault(part, Position(line)))
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
            path.append(bare or literal or _unescape(basic or ""))
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
        found, position = self.value(self.after_blanks(position + 1), depth)
        found.line = line
        if path:
            spot.inside[path[-1]] = found
        return position

    def value(self, position: int, depth: int) -> tuple[Position, int]:
        spot = Position(self.lines.at(position))
        check_depth(depth, spot.line)
        opening = self.text[position : position + 1]
        if opening == "[":
            return spot, self.array(spot, position, depth)
        if opening == "{":
            return spot, self.inline_table(spot, position, depth)
        return spot, self.after_text(position) if opening in ('"', "'") else _end(_SCALAR, self.text, position)

    def array(self, spot: Position, position: int, depth: int) -> int:
        position = self.after_blanks(position + 1)
        while position < len(self.text) and not self.text.startswith("]", position):
            start = position
            spot.inside[len(spot.inside)], position = self.value(position, depth + 1)
            position = self.after_comma(position, start)
        return position + 1

    def inline_table(self, spot: Position, position: int, depth: int) -> int:
        position = self.after_blanks(position + 1)
        while position < len(self.text) and not self.text.startswith("}", position):
            start = position
            position = self.after_comma(self.pair(spot, position, depth + 1), start)
        return position + 1

    def after_comma(self, position: int, start: int) -> int:
        position = self.after_blanks(max(position, start + 1))
        return self.after_blanks(position + 1) if self.text.startswith(",", position) else position

    def after_text(self, position: int) -> int:
        if self.text.startswith("'''", position):
            return _end(_LONG_LITERAL_END, self.text, position + 3, searching=True)
        if self.text.startswith('"""', position):
            return self.after_long_text(position + 3)
        return _end(_BASIC if self.text[position] == '"' else _LITERAL, self.text, position)

    def after_long_text(self, position: int) -> int:
        while found := _LONG_BASIC_END.search(self.text, position):
            position = found.end()
            if not found.group().startswith("\\"):
                return position
        return len(self.text)


def _newest(spot: Position) -> Position:
    """Return the last entry of an array of tables, or the table itself."""
    return spot.inside.get(len(spot.inside) - 1, spot)


def _end(pattern: re.Pattern[str], text: str, position: int, *, searching: bool = False) -> int:
    found = pattern.search(text, position) if searching else pattern.match(text, position)
    return found.end() if found else position


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    import tomllib

    return str(tomllib.loads(f'key = "{text}"')["key"])
