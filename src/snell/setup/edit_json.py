"""
Edit JSON and JSONC text and keep everything else in it.

The text is scanned for the positions of its values; an edit removes or inserts text between them. Comments, order,
indentation, line ends and unusual spacing stay, because the text is never serialised again.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from snell.settings.read_json import JsonScanner, Span
from snell.settings.value_tree import InvalidValueError, Lines

_INDENT = re.compile(r"[ \t]*")
WIDTH = 160
CORRECT_IT = "correct it, or remove it"
Change = tuple[int, int, str]  # start, end, and the text that replaces what was between them


class JsonText:
    """
    A JSON text that can be edited.

    Every edit scans the text again, so positions are always current. Edits in many places are made together, because
    some files are large.
    """

    def __init__(self, text: str, *, comments: bool = False) -> None:
        self._comments = comments
        self.text = text
        self.root = self._scan()
        if not isinstance(self.root.value, dict):
            raise InvalidValueError("the file does not contain a JSON object", 1, "put `{` and `}` around its content")

    def find(self, path: tuple[str, ...]) -> Span | None:
        """Return the value at a path of keys; None if there is none."""
        span = self.root
        for depth, key in enumerate(path):
            if not isinstance(span.value, dict):
                name = ".".join(path[:depth])
                raise InvalidValueError(f"`{name}` is not an object", self.line_of(span), CORRECT_IT)
            found = next((item.span for item in span.items if item.key == key), None)
            if found is None:
                return None
            span = found
        return span

    def put(self, path: tuple[str, ...], value: Any) -> None:
        """Set the value at this path; objects on the way that are missing are added."""
        if found := self.find(path):
            if found.value != value:
                self._splice([(found.start, found.end, self._format(value, self._indent_at(found.start)))])
            return
        parent = self.find(path[:-1])
        if parent is None:
            self.put(path[:-1], {path[-1]: value})
            return
        self._splice(self._addition_changes(parent, [(_key(path[-1]), value)]))

    def extend(self, at: tuple[str, ...], lists: Mapping[str, Sequence[Any]]) -> None:
        """Append items to these lists of the object at a path; lists that are missing are added."""
        inside = self.find(at)
        known = {item.key for item in inside.items} if inside else set()
        missing = {name: list(items) for name, items in lists.items() if items and name not in known}
        if inside is None:
            if missing:
                self.put(at, missing)
            return
        changes = []
        for item in inside.items:
            if items := lists.get(item.key):
                if not isinstance(item.span.value, list):
                    name = ".".join((*at, item.key))
                    raise InvalidValueError(f"`{name}` is not a list", self.line_of(item.span), CORRECT_IT)
                changes += self._addition_changes(item.span, [("", each) for each in items])
        changes += self._addition_changes(inside, [(_key(name), items) for name, items in missing.items()])
        self._splice(changes)

    def remove(self, path: tuple[str, ...]) -> None:
        """Remove the member at this path."""
        inside = self.find(path[:-1])
        items = inside.items if inside else ()
        self.remove_all([(inside, {number for number, item in enumerate(items) if item.key == path[-1]})])

    def remove_all(self, places: Sequence[tuple[Span | None, Collection[int]]]) -> None:
        """Remove items, by number, from objects and lists. None of these may be inside a removed item."""
        self._splice(
            [change for inside, numbers in places if inside for change in self._removal_changes(inside, numbers)]
        )

    def _removal_changes(self, inside: Span, numbers: Collection[int]) -> list[Change]:
        if not numbers:
            return []
        gone = [item for index, item in enumerate(inside.items) if index in numbers]
        left = [item for index, item in enumerate(inside.items) if index not in numbers]
        changes = [
            (self._blank_before(item.start), item.comma + 1 if item.comma >= 0 else item.end, "") for item in gone
        ]
        if left and gone[-1].comma < 0:
            changes.append((left[-1].comma, left[-1].comma + 1, ""))  # it is the last one now
        if not left and not self.text[changes[-1][1] : inside.end - 1].strip():
            changes[-1] = (changes[-1][0], inside.end - 1, "")  # empty now: the closing bracket follows at once
        return changes

    def _addition_changes(self, inside: Span, values: Sequence[tuple[str, Any]]) -> list[Change]:
        """Return the changes that add values at the end of an object or list; each comes with its key, or with ""."""
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
            lead + before + (self._format(value, indent) if is_open else json.dumps(value, ensure_ascii=False))
            for before, value in values
        )
        text += "," if inside.trailing_comma else ""
        if is_open and "\n" not in self.text[at:close]:
            text += f"{self._newline}{outer}"
        needs_comma = inside.items and not inside.trailing_comma
        comma: list[Change] = [(inside.items[-1].end, inside.items[-1].end, ",")] if needs_comma else []
        return [*comma, (at, at, text)]

    def _splice(self, changes: Sequence[Change]) -> None:
        """Make changes that do not overlap; those at one position are made in the given order."""
        parts, position = [], 0
        for start, end, text in sorted(changes, key=lambda change: change[0]):
            parts += [self.text[position : max(start, position)], text]
            position = max(end, position)
        if changes:
            self.text = "".join([*parts, self.text[position:]])
            self.root = self._scan()

    def _scan(self) -> Span:
        return JsonScanner(self.text, comments=self._comments).document()

    def _format(self, value: Any, indent: str) -> str:
        return _pretty(value, self._unit, "").replace("\n", f"{self._newline}{indent}")

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _unit(self) -> str:
        """Return the indentation of the first member; the whole file is assumed to use it."""
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
        """Return the indentation of the line at this position."""
        start = self.text.rfind("\n", 0, position) + 1
        found = _INDENT.match(self.text, start)
        return found.group() if found else ""

    def _blank_before(self, position: int) -> int:
        while position and self.text[position - 1] in " \t\r\n":
            position -= 1
        return position

    def line_of(self, span: Span) -> int:
        return Lines(self.text).at(span.start)


def _key(name: str) -> str:
    return f"{json.dumps(name, ensure_ascii=False)}: "


def _pretty(value: Any, unit: str, indent: str) -> str:
    """Return indented JSON that puts on one line what fits, so that thirty hooks are not three hundred lines."""
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
