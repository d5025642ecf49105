"""
Read JSON into values with line numbers, or with the positions at which an editor can change the text.

It is stricter than the standard library: duplicate keys, `NaN` and comments are errors, because another program could
read them differently. In settings files so are numbers that are too large and half a surrogate pair.
"""

import math
import re
from json import JSONDecodeError, JSONDecoder
from typing import Any, NoReturn

from msgspec import Struct, field

from snell.settings.value_tree import InvalidValueError, Lines, Node, check_depth
from snell.system.lazy_regex import lazy_regex

_BLANK = lazy_regex(r"[ \t\r\n]*")
_SCALAR = lazy_regex(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_WORD = lazy_regex(r"-?[A-Za-z]+")
_SURROGATE = lazy_regex("[\ud800-\udfff]")
_DECODER = JSONDecoder()


def read_json(text: str, *, has_comments: bool = False) -> Node | None:
    """Return the value in a text; None for an empty text. Raises InvalidValueError."""
    scanner = JsonScanner(text, comments=has_comments, is_strict=True)
    if scanner.is_empty:
        return None
    span = scanner.document()
    return _node(span, span.start, scanner.lines)


def _node(span: "Span", position: int, lines: Lines) -> Node:
    value = span.value
    if isinstance(value, dict):
        value = {item.key: _node(item.span, item.start, lines) for item in span.items}
    elif isinstance(value, list):
        value = [_node(item.span, item.start, lines) for item in span.items]
    return Node(value, lines.at(position))


_BLANK_OR_COMMENTS = lazy_regex(r"(?:[ \t\r\n]++|//[^\n]*+|/\*.*?\*/)*", re.DOTALL)


class Span(Struct):
    """A value in the text: its position, its Python value, and the items inside it."""

    start: int
    end: int
    value: Any
    items: list["Item"] = field(default_factory=list)  # of an object or a list
    trailing_comma: bool = False


class Item(Struct):
    """A member of an object or an item of a list; `start` is the position of its key, or of itself."""

    start: int
    span: Span
    key: str = ""
    comma: int = -1  # the position of the comma after it

    @property
    def end(self) -> int:
        return self.span.end


class JsonScanner:
    """Reads a JSON text into spans. `comments`: comments and trailing commas are allowed."""

    def __init__(self, text: str, *, comments: bool = False, is_strict: bool = False) -> None:
        self.text = text
        self.lines = Lines(text)
        self._comments = comments
        self._is_strict = is_strict

    @property
    def is_empty(self) -> bool:
        return self._skip(0) == len(self.text)

    def document(self) -> Span:
        """Return the only value of the text. Raises InvalidValueError."""
        span = self._value(self._skip(0), 0)
        end = self._skip(span.end)
        if end < len(self.text):
            self._fail(end, "there is text after the end of the JSON value", "remove it")
        return span

    def _fail(self, position: int, message: str, advice: str = "correct the JSON first") -> NoReturn:
        if self.text.startswith(("//", "/*", "#"), position):
            message, advice = "the client does not accept comments in this file", "remove this one"
            if self._comments:
                message, advice = "a comment does not end", "end it with */"
            elif self._is_strict:
                message, advice = "JSON has no comments", "remove the comment, or write this file as TOML"
        raise InvalidValueError(message, self.lines.at(min(position, len(self.text))), advice)

    def _skip(self, position: int) -> int:
        found = (_BLANK_OR_COMMENTS if self._comments else _BLANK).match(self.text, position)
        return found.end() if found else position

    def _value(self, position: int, depth: int) -> Span:
        check_depth(depth, self.lines.at(position))
        match self.text[position : position + 1]:
            case "{":
                return self._container(position, depth, "}")
            case "[":
                return self._container(position, depth, "]")
            case '"':
                value, end = self._string(position)
                return Span(position, end, value)
        return self._scalar(position)

    def _container(self, start: int, depth: int, closing: str) -> Span:
        span = Span(start, start, {} if closing == "}" else [])
        position = self._skip(start + 1)
        while self.text[position : position + 1] != closing:
            item = self._item(position, depth, closing)
            if closing == "]":
                span.value.append(item.span.value)
            elif item.key in span.value:
                self._fail(item.start, f"the key `{item.key[:80]}` is given twice", "keep one of them")
            else:
                span.value[item.key] = item.span.value
            span.items.append(item)
            position = self._after(item, closing)
        span.trailing_comma = bool(span.items) and span.items[-1].comma >= 0
        if span.trailing_comma and not self._comments:
            self._fail(span.items[-1].comma, f"there is a `,` before `{closing}`", "remove that comma")
        span.end = position + 1
        return span

    def _item(self, position: int, depth: int, closing: str) -> Item:
        if closing == "]":
            return Item(position, self._value(position, depth + 1))
        if self.text[position : position + 1] != '"':
            advice = "quote the key, or check commas and brackets"
            self._fail(position, "a key in double quotes or `}` is missing here", advice)
        key, end = self._string(position)
        colon = self._skip(end)
        if self.text[colon : colon + 1] != ":":
            self._fail(colon, f"a `:` is missing after the key `{key[:80]}`")
        return Item(position, self._value(self._skip(colon + 1), depth + 1), key)

    def _after(self, item: Item, closing: str) -> int:
        """Return the position of the closing bracket or of the next item."""
        position = self._skip(item.end)
        if self.text[position : position + 1] == ",":
            item.comma = position
            return self._skip(position + 1)
        if self.text[position : position + 1] != closing:
            self._fail(position, f"a `,` or `{closing}` is missing here", "check commas and brackets")
        return position

    def _string(self, position: int) -> tuple[str, int]:
        try:
            value, end = _DECODER.raw_decode(self.text, position)
        except JSONDecodeError as error:
            message = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
            self._fail(max(position, error.pos - 1), f"bad text: {message}")
        if self._is_strict and _SURROGATE.search(value):
            self._fail(position, "the text holds half a surrogate pair", "write the whole character")
        return value, end

    def _scalar(self, position: int) -> Span:
        found, word = _SCALAR.match(self.text, position), _WORD.match(self.text, position)
        if not found or (word and word.end() > found.end()):
            what = f"`{word.group()[:40]}` is not a JSON value" if word else "a value is missing here"
            self._fail(position, what, "use text in double quotes, a number, true, false, null, [...] or {...}")
        try:
            value = _DECODER.decode(found.group())
        except ValueError:
            value = math.inf  # an integer with more digits than Python reads
        is_large = abs(value) >= 2**64 if isinstance(value, int) else isinstance(value, float) and math.isinf(value)
        if is_large and self._is_strict:
            self._fail(position, "the number is too large", "use a smaller one")
        return Span(position, found.end(), value)
