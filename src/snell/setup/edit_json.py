"""
Edits of JSON and JSONC that touch nothing but what they are about.

The text is scanned for the spans of its values; a change is a cut or an insertion between them. Comments, order,
indentation, line ends and odd spacing stay as they are, because nothing is written anew.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from snell.settings.problems import InvalidValueError
from snell.settings.value_tree import Lines, check_depth

_BLANK = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INDENT = re.compile(r"[ \t]*")
_SCALAR = re.compile(r"-?[0-9][0-9.eE+\-]*|true|false|null")
_STRINGS = json.JSONDecoder()
WIDTH = 160
Change = tuple[int, int, str]  # from, to, and what stands there then


class Span(Struct):
    """A value in the text: where it is, what it means, and what is inside it."""

    start: int
    end: int
    value: Any
    items: list["Item"] = field(default_factory=list)  # of an object or a list
    trailing_comma: bool = False


class Item(Struct):
    """A member of an object or an item of a list; `start` is where its key, or itself, begins."""

    start: int
    span: Span
    key: str = ""
    comma: int = -1  # where the comma behind it stands

    @property
    def end(self) -> int:
        return self.span.end


class JsonText:
    """
    A JSON text under the knife. Every change scans it again, so positions never go stale; what is about many places
    is done in one go, because some files are large.
    """

    def __init__(self, text: str, *, comments: bool = False) -> None:
        self._comments = comments
        self.text = text
        self.root = self._scanned()
        if not isinstance(self.root.value, dict):
            raise InvalidValueError("the file does not hold an object", 1, "put `{` and `}` around its content")

    def find(self, path: tuple[str | int, ...]) -> Span | None:
        """The value at this path of keys, and of numbers in lists that are known to be there."""
        span = self.root
        for depth, key in enumerate(path):
            if isinstance(key, int):
                span = span.items[key].span
                continue
            if not isinstance(span.value, dict):
                name = ".".join(map(str, path[:depth]))
                raise InvalidValueError(f"`{name}` is not an object", self._line(span.start), "mend it, or remove it")
            found = next((item.span for item in span.items if item.key == key), None)
            if found is None:
                return None
            span = found
        return span

    def put(self, path: tuple[str, ...], value: Any) -> None:
        """Set the value at this path, with the objects on the way to it."""
        if found := self.find(path):
            if found.value != value:
                self._splice([(found.start, found.end, self._written(value, self._indent_at(found.start)))])
            return
        parent = self.find(path[:-1]) if len(path) > 1 else self.root
        if parent is None:
            self.put(path[:-1], {path[-1]: value})
            return
        if not isinstance(parent.value, dict):
            raise InvalidValueError(f"`{'.'.join(path[:-1])}` is not an object", self._line(parent.start), "mend it")
        self._splice(self._added(parent, [(_key(path[-1]), value)]))

    def extend(self, at: tuple[str, ...], lists: Mapping[str, Sequence[Any]]) -> None:
        """Append to the lists of these names in the object there; those that are missing are made."""
        inside = self.find(at) if at else self.root
        missing = {name: list(items) for name, items in lists.items() if items and not self._has(inside, name)}
        if inside is None:
            if missing:
                self.put(at, missing)
            return
        changes = []
        for item in inside.items:
            if items := lists.get(item.key):
                if not isinstance(item.span.value, list):
                    name = ".".join((*at, item.key))
                    raise InvalidValueError(
                        f"`{name}` is not a list", self._line(item.span.start), "mend it, or remove it"
                    )
                changes += self._added(item.span, [("", each) for each in items])
        changes += self._added(inside, [(_key(name), items) for name, items in missing.items()])
        self._splice(changes)

    def cut(self, path: tuple[str | int, ...], number: int | None = None) -> None:
        """Take out the member at this path, or one item of the list there."""
        inside = self.find(path if number is not None else path[:-1])
        for index, item in enumerate(inside.items if inside else ()):
            if index == number if number is not None else item.key == path[-1]:
                self.cut_all([(inside, {index})])
                return

    def cut_all(self, places: Sequence[tuple[Span | None, Collection[int]]]) -> None:
        """Take out these items of these objects and lists, none of which is inside an item that goes."""
        self._splice([change for inside, numbers in places if inside for change in self._removed(inside, numbers)])

    def _removed(self, inside: Span, numbers: Collection[int]) -> list[Change]:
        if not numbers:
            return []
        gone = [item for index, item in enumerate(inside.items) if index in numbers]
        left = [item for index, item in enumerate(inside.items) if index not in numbers]
        changes = [
            (self._blank_before(item.start), item.comma + 1 if item.comma >= 0 else item.end, "") for item in gone
        ]
        if left and gone[-1].comma < 0:
            changes.append((left[-1].comma, left[-1].comma + 1, ""))  # it is the last one now
        if not left and not self._has_comment(changes[-1][1], inside.end - 1):
            changes[-1] = (changes[-1][0], inside.end - 1, "")  # nothing is left, so its closing bracket comes up
        return changes

    def _added(self, inside: Span, values: Sequence[tuple[str, Any]]) -> list[Change]:
        """Values with what stands before each, such as its key, behind what is inside already."""
        if not values:
            return []
        close = inside.end - 1
        at = self._blank_before(close)
        is_empty = not inside.items
        is_open = "\n" in self.text[at:close] or is_empty or "\n" in self.text[inside.start : inside.items[0].start]
        outer = self._indent_at(inside.start)
        indent = self._item_indent(inside, outer)
        lead = f"{self._newline}{indent}" if is_open else " "
        text = ",".join(
            lead + before + (self._written(value, indent) if is_open else json.dumps(value, ensure_ascii=False))
            for before, value in values
        )
        text += "," if inside.trailing_comma else ""
        if is_open and "\n" not in self.text[at:close]:
            text += f"{self._newline}{outer}"
        needs_comma = inside.items and not inside.trailing_comma
        comma: list[Change] = [(inside.items[-1].end, inside.items[-1].end, ",")] if needs_comma else []
        return [*comma, (at, at, text)]

    def _splice(self, changes: Sequence[Change]) -> None:
        """Make these changes, which do not overlap, in one go; those of one place in the order given."""
        parts, position = [], 0
        for start, end, text in sorted(changes, key=lambda change: change[0]):
            parts += [self.text[position : max(start, position)], text]
            position = max(end, position)
        if changes:
            self.text = "".join([*parts, self.text[position:]])
            self.root = self._scanned()

    @staticmethod
    def _has(inside: Span | None, name: str) -> bool:
        return inside is not None and any(item.key == name for item in inside.items)

    def _scanned(self) -> Span:
        return _Scanner(self.text, comments=self._comments).document()

    def _written(self, value: Any, indent: str) -> str:
        return _pretty(value, self._unit, "").replace("\n", f"{self._newline}{indent}")

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _unit(self) -> str:
        """The indentation of the first member, which the whole file is taken to follow."""
        if self.root.items:
            first = self._indent_at(self.root.items[0].start)
            if first and "\n" in self.text[: self.root.items[0].start]:
                return first
        return "  "

    def _item_indent(self, inside: Span, outer: str) -> str:
        if inside.items and "\n" in self.text[inside.start : inside.items[0].start]:
            return self._indent_at(inside.items[0].start)
        return outer + self._unit

    def _indent_at(self, position: int) -> str:
        """The blanks at the beginning of the line that this position is in."""
        start = self.text.rfind("\n", 0, position) + 1
        found = _INDENT.match(self.text, start)
        return found.group() if found else ""

    def _blank_before(self, position: int) -> int:
        while position and self.text[position - 1] in " \t\r\n":
            position -= 1
        return position

    def _has_comment(self, start: int, end: int) -> bool:
        return bool(self.text[start:end].strip())

    def line_of(self, span: Span) -> int:
        return self._line(span.start)

    def _line(self, position: int) -> int:
        return Lines(self.text).at(position)


def _key(name: str) -> str:
    return f"{json.dumps(name, ensure_ascii=False)}: "


def _pretty(value: Any, unit: str, indent: str) -> str:
    """JSON for people: on one line what fits there, so that thirty hooks are not three hundred lines."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or (len(flat) <= WIDTH and (indent or not _is_deep(value))):
        return flat
    inner = indent + unit
    if isinstance(value, list):
        lines = [inner + _pretty(each, unit, inner) for each in value]
    else:
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_pretty(each, unit, inner)}" for key, each in value.items()
        ]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return f"{opening}\n" + ",\n".join(lines) + f"\n{indent}{closing}"


def _is_deep(value: Any) -> bool:
    inside = value.values() if isinstance(value, dict) else value
    return any(isinstance(each, dict | list) for each in inside)


class _Scanner:
    def __init__(self, text: str, *, comments: bool) -> None:
        self.text = text
        self.lines = Lines(text)
        self.comments = comments

    def document(self) -> Span:
        span = self.value(self.skip(0), 0)
        end = self.skip(span.end)
        if end < len(self.text):
            raise self.wrong(end, "there is text after the end of the JSON value", "remove it")
        return span

    def wrong(self, position: int, message: str, advice: str = "mend it first") -> InvalidValueError:
        if self.text[position : position + 2] in ("//", "/*"):
            message, advice = "a comment that the client would not understand", "remove it"
            if self.comments:
                message, advice = "a comment that does not end", "end it with */"
        return InvalidValueError(message, self.lines.at(min(position, len(self.text))), advice)

    def skip(self, position: int) -> int:
        while True:
            found = _BLANK.match(self.text, position)
            position = found.end() if found else position
            comment = _COMMENT.match(self.text, position) if self.comments else None
            if not comment:
                return position
            position = comment.end()

    def value(self, position: int, depth: int) -> Span:
        check_depth(depth, self.lines.at(position))
        char = self.text[position : position + 1]
        if char in ("{", "["):
            return self.container(position, depth, "}" if char == "{" else "]")
        if char == '"':
            value, end = self.string(position)
            return Span(position, end, value)
        found = _SCALAR.match(self.text, position)
        try:
            return Span(position, found.end(), json.loads(found.group())) if found else self.missing(position)
        except ValueError:
            return self.missing(position)

    def missing(self, position: int) -> Span:
        raise self.wrong(position, "a JSON value is missing here")

    def container(self, start: int, depth: int, closing: str) -> Span:
        span = Span(start, start, {} if closing == "}" else [])
        position = self.skip(start + 1)
        while self.text[position : position + 1] != closing:
            item = self.item(position, depth, closing)
            if closing == "}":
                self.check_new(span, item)
                span.value[item.key] = item.span.value
            else:
                span.value.append(item.span.value)
            span.items.append(item)
            position = self.after(item, closing)
        span.trailing_comma = bool(span.items) and span.items[-1].comma >= 0
        if span.trailing_comma and not self.comments:
            raise self.wrong(span.items[-1].comma, f"there is a `,` before `{closing}`", "remove that comma")
        span.end = position + 1
        return span

    def item(self, position: int, depth: int, closing: str) -> Item:
        if closing == "]":
            return Item(position, self.value(position, depth + 1))
        if self.text[position : position + 1] != '"':
            raise self.wrong(position, "a key in double quotes or `}` is missing here", "check commas and brackets")
        key, end = self.string(position)
        colon = self.skip(end)
        if self.text[colon : colon + 1] != ":":
            raise self.wrong(colon, f"a `:` is missing after the key `{key[:80]}`")
        return Item(position, self.value(self.skip(colon + 1), depth + 1), key)

    def check_new(self, span: Span, item: Item) -> None:
        if item.key in span.value:
            raise self.wrong(item.start, f"the key `{item.key[:80]}` is given twice", "keep one of them")

    def after(self, item: Item, closing: str) -> int:
        position = self.skip(item.end)
        if self.text[position : position + 1] == ",":
            item.comma = position
            return self.skip(position + 1)
        if self.text[position : position + 1] != closing:
            raise self.wrong(position, f"a `,` or `{closing}` is missing here", "check commas and brackets")
        return position

    def string(self, position: int) -> tuple[str, int]:
        try:
            value, end = _STRINGS.raw_decode(self.text, position)
        except ValueError:
            raise self.wrong(position, "a text does not end, or holds what it may not") from None
        return value, end
