"""
Read JSON into values with line numbers.

It is stricter than the standard library: duplicate keys, `NaN`, numbers that are too large, half a surrogate pair and
comments are errors, because another program could read them differently.
"""

import re
from json import JSONDecodeError, JSONDecoder
from typing import Any

from snell.settings.problems import InvalidValueError
from snell.settings.value_tree import Lines, Node, check_depth

_BLANK = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"-?[A-Za-z]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_LONGEST_NUMBER = 40
_STRINGS = JSONDecoder()


def read_json(text: str) -> Node | None:
    """Return the value in a text; None for an empty text. Raises InvalidValueError."""
    reader = _Reader(text)
    position = reader.after_blanks(0)
    if position == len(text):
        return None
    node, position = reader.value(position, 0)
    position = reader.after_blanks(position)
    if position < len(text):
        raise reader.error(position, "there is text after the end of the JSON value", "remove it")
    return node


def without_comments(text: str) -> str:
    """Replace comments and trailing commas by blanks, so that all line numbers stay the same."""
    return _LOOSE.sub(lambda found: found[0] if found[0][0] == '"' else _VISIBLE.sub(" ", found[0]), text)


# Strings come first, because they can contain text that looks like a comment. A string or comment without an end
# extends to the end of the text, so that its end is searched only once.
_COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_LOOSE = re.compile(rf'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|{_COMMENT}|,(?=(?:[ \t\r\n]|{_COMMENT})*+[}}\]])', re.DOTALL)
_VISIBLE = re.compile(r"\S")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)

    def error(self, position: int, message: str, advice: str = "") -> InvalidValueError:
        if self.text[position : position + 2] in ("//", "/*") or self.text[position : position + 1] == "#":
            message, advice = "JSON has no comments", "remove the comment, or write this file as TOML"
        return InvalidValueError(message, self.lines.at(min(position, len(self.text))), advice)

    def after_blanks(self, position: int) -> int:
        found = _BLANK.match(self.text, position)
        return found.end() if found else position

    def value(self, position: int, depth: int) -> tuple[Node, int]:
        line = self.lines.at(position)
        check_depth(depth, line)
        char = self.text[position : position + 1]
        if char == "{":
            return self.table(position, line, depth)
        if char == "[":
            return self.array(position, line, depth)
        value, end = self.string(position) if char == '"' else self.scalar(position)
        return Node(value, line), end

    def table(self, position: int, line: int, depth: int) -> tuple[Node, int]:
        members: dict[str, Node] = {}
        position = self.after_blanks(position + 1)
        while self.text[position : position + 1] != "}":
            if self.text[position : position + 1] != '"':
                raise self.error(position, "a key in double quotes or `}` is missing here", "quote the key")
            key, end = self.string(position)
            if key in members:
                raise self.error(position, f"the key `{key[:80]}` is given twice", "keep one of them")
            key_line = self.lines.at(position)
            position = self.after_blanks(end)
            if self.text[position : position + 1] != ":":
                raise self.error(position, f"a `:` is missing after the key `{key[:80]}`")
            found, position = self.value(self.after_blanks(position + 1), depth + 1)
            members[key] = Node(found.value, key_line)
            position = self.next_member(position, "}")
        return Node(members, line), position + 1

    def array(self, position: int, line: int, depth: int) -> tuple[Node, int]:
        items: list[Node] = []
        position = self.after_blanks(position + 1)
        while self.text[position : position + 1] != "]":
            found, position = self.value(position, depth + 1)
            items.append(found)
            position = self.next_member(position, "]")
        return Node(items, line), position + 1

    def next_member(self, position: int, closing: str) -> int:
        """Return the position of the closing bracket or of the next member."""
        position = self.after_blanks(position)
        char = self.text[position : position + 1]
        if char == closing:
            return position
        if char != ",":
            raise self.error(position, f"a `,` or `{closing}` is missing here", "check commas and brackets")
        position = self.after_blanks(position + 1)
        if self.text[position : position + 1] == closing:
            raise self.error(position, f"there is a `,` before `{closing}`", "remove that comma")
        return position

    def string(self, position: int) -> tuple[str, int]:
        try:
            value, end = _STRINGS.raw_decode(self.text, position)
        except JSONDecodeError as error:
            message = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
            raise self.error(max(position, error.pos - 1), f"bad text: {message}") from None
        if _SURROGATE.search(value):
            raise self.error(position, "the text holds half a surrogate pair", "write the whole character")
        return value, end

    def scalar(self, position: int) -> tuple[Any, int]:
        if found := _NUMBER.match(self.text, position):
            return self.number(found), found.end()
        word = _WORD.match(self.text, position)
        if word and word.group() in _WORDS:
            return _WORDS[word.group()], word.end()
        what = f"`{word.group()[:40]}` is not a JSON value" if word else "a value is missing here"
        raise self.error(position, what, "use text in double quotes, a number, true, false, null, [...] or {...}")

    def number(self, found: re.Match[str]) -> int | float:
        whole, fraction, exponent = found.groups()
        value = float(found.group()) if fraction or exponent else int(whole[:_LONGEST_NUMBER])
        if abs(value) >= 2**64 if isinstance(value, int) else value in (float("inf"), float("-inf")):
            raise self.error(found.start(), "the number is too large", "use a smaller one")
        return value
