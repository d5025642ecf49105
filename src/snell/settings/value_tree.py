"""Values with their line numbers, the result of reading TOML, JSON or YAML; and problems with them."""

import re
from bisect import bisect_right
from datetime import date, time
from typing import Any, Literal

from msgspec import Struct

from snell.model.errors import SettingsError

DEEPEST = 100
Severity = Literal["error", "warning", "hint"]


class Problem(Struct, frozen=True):
    file: str
    line: int  # 0 for a folder
    message: str
    advice: str = ""
    severity: Severity = "error"

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"
        return f"{text}; {self.advice}" if self.advice else text


class InvalidValueError(SettingsError):
    """An invalid value at one line; the parser, which knows the file, turns it into a Problem."""

    def __init__(self, message: str, line: int, advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.line = max(line, 1)


class Node(Struct, frozen=True):
    """A value and the line of it or of its key; tables are `dict[str, Node]`, lists `list[Node]`."""

    value: Any
    line: int

    @property
    def is_table(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)


class Lines:
    """Converts positions in a text to line numbers."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, position: int) -> int:
        return bisect_right(self._starts, position)


def plain(node: Node) -> Any:
    """Return the value without lines, as JSON data."""
    if isinstance(node.value, dict):
        return {key: plain(each) for key, each in node.value.items()}
    if isinstance(node.value, list):
        return [plain(each) for each in node.value]
    return node.value.isoformat() if isinstance(node.value, date | time) else node.value


def text_of(data: bytes) -> str:
    """Decode a file: UTF-8, with or without a byte order mark. Raises InvalidValueError."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidValueError("the file is not valid UTF-8", line, "save it as UTF-8") from None


def check_depth(depth: int, line: int) -> None:
    if depth > DEEPEST:
        raise InvalidValueError(f"values are nested more than {DEEPEST} deep", line, "flatten them")


def noun(value: Any) -> str:
    """Return the word for a type of value in a message."""
    return _NOUNS.get(type(value), "a date or time")


_NOUNS: dict[type, str] = {
    type(None): "nothing",
    bool: "true or false",
    **dict.fromkeys((int, float), "a number"),
    str: "text",
    dict: "a table",
    list: "a list",
}
