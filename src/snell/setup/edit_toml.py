"""
Edits of TOML that keep everything else: ours is appended as text, and taken out as whole tables.

Nothing is written before the result has been read again and found to mean what it should.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from snell.settings.problems import InvalidValueError
from snell.settings.read_toml import read_toml

_MULTILINE = ('"""', "'''")
_HEADER = re.compile(r"[ \t]*(\[\[?)([^\]\n]+)\]\]?[ \t]*(?:#[^\n]*)?\r?$")


class Table(msgspec.Struct):
    """Lines from a header to the next one; the first table is what stands before any header."""

    header: str
    name: tuple[str, ...]
    is_entry: bool
    first: int
    last: int


def parse_toml(text: str) -> dict[str, Any]:
    """The values of a TOML text. Raises WrongError with the line."""
    read_toml(text)  # its messages name lines
    return tomllib.loads(text)


def append_table(text: str, table: str) -> str:
    """The text with these lines at its end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join(table.strip("\n").split("\n")) + newline
    if not text.strip():
        return text + block
    gap = newline if text.endswith("\n") else newline * 2
    return text + gap + block


def without_tables(text: str, goes: Callable[[Table, Mapping[str, Any]], bool]) -> str:
    """The text without the tables for which `goes` holds, and without the empty line before each."""
    lines = text.split("\n")
    kept, previous_end = [], 0
    for table in _tables(lines):
        if not table.header or not goes(table, _values(lines, table)):
            continue
        first = table.first - 1 if table.first > previous_end and not lines[table.first - 1].strip() else table.first
        kept += lines[previous_end:first]
        previous_end = table.last + 1
    kept += lines[previous_end:]
    return "\n".join(kept)


def with_value(text: str, table: tuple[str, ...], name: str, value: Any) -> str:
    """The text with this value in that table, wherever the table is; everything else stays. Raises WrongError."""
    refuse_if_taken(parse_toml(text), table)
    lines = text.split("\n")
    found = next((each for each in _tables(lines) if each.name == table and not each.is_entry), None)
    line, end = f"{name} = {toml_value(value)}", "\r" if "\r\n" in text else ""
    if found is None:
        after = append_table(text, toml_table(".".join(table), {name: value}))
    elif at := next((n for n in range(found.first + 1, found.last + 1) if _is_given(lines[n], name)), 0):
        remark = lines[at].find("#")
        kept = f"  {lines[at][remark:].rstrip()}" if remark >= 0 else ""
        after = "\n".join([*lines[:at], f"{line}{kept}{end}", *lines[at + 1 :]])
    else:
        after = "\n".join([*lines[: found.first + 1], f"{line}{end}", *lines[found.first + 1 :]])
    return _meant(after, table, name, value)


def _is_given(line: str, name: str) -> bool:
    return re.match(rf"""[ \t]*["']?{re.escape(name)}["']?[ \t]*=""", line) is not None


def _meant(text: str, table: tuple[str, ...], name: str, value: Any) -> str:
    try:
        found: Any = tomllib.loads(text)
        for each in (*table, name):
            found = found[each]
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        found = None
    if found != value:
        where = first_line_of(text, table[-1:])
        raise InvalidValueError(
            f"`{'.'.join(table)}` is written in a way that is not edited", where, "change it by hand"
        )
    return text


def toml_table(name: str, values: Mapping[str, Any], *, is_entry: bool = False) -> str:
    """One table as text."""
    header = f"[[{name}]]" if is_entry else f"[{name}]"
    return "\n".join((header, *(f"{key} = {toml_value(value)}" for key, value in values.items())))


def toml_value(value: Any) -> str:
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml_value(each)}" for key, each in value.items()) + " }"
    text = msgspec.json.encode(str(value)).decode()
    return text.replace("\x7f", "\\u007f")


def _tables(lines: list[str]) -> list[Table]:
    tables = [Table("", (), False, 0, -1)]
    quotes = ""
    for number, line in enumerate(lines):
        found = None if quotes else _HEADER.match(line)
        quotes = _open_quotes(line, quotes)
        if found and _names(found.group(2)):
            tables.append(Table(line, _names(found.group(2)), found.group(1) == "[[", number, number))
        elif line.strip() and not (line.lstrip().startswith("#") and not quotes):
            tables[-1].last = number
    return tables


def _values(lines: list[str], table: Table) -> Mapping[str, Any]:
    try:
        return tomllib.loads("\n".join(line.rstrip("\r") for line in lines[table.first + 1 : table.last + 1]))
    except tomllib.TOMLDecodeError:
        return {}  # a list over several lines that looked like a header; not ours


def _open_quotes(line: str, quotes: str) -> str:
    """Which multi-line text is open at the end of this line."""
    position = 0
    while position < len(line):
        if quotes:
            end = line.find(quotes, position)
            if end < 0:
                return quotes
            position, quotes = end + 3, ""
            continue
        char = line[position]
        if line[position : position + 3] in _MULTILINE:
            quotes = line[position : position + 3]
            position += 3
        elif char in "\"'":
            end = line.find(char, position + 1)
            while char == '"' and end > 0 and line[end - 1] == "\\":
                end = line.find(char, end + 1)
            position = len(line) if end < 0 else end + 1
        elif char == "#":
            break
        else:
            position += 1
    return quotes


def _names(text: str) -> tuple[str, ...]:
    try:
        found: Any = tomllib.loads(f"[{text}]")
    except tomllib.TOMLDecodeError:
        return ()
    names: list[str] = []
    while isinstance(found, dict) and found:
        name = next(iter(found))
        names.append(name)
        found = found[name]
    return tuple(names)


def first_line_of(text: str, names: Sequence[str]) -> int:
    """Where one of these names is first given a value or a table; the last line when none is."""
    lines = text.split("\n")
    given = re.compile(rf"""[ \t]*\[*[ \t]*["']?(?:{"|".join(map(re.escape, names))})["']?[ \t]*[=.\]]""")
    return next((number for number, line in enumerate(lines, 1) if given.match(line)), len(lines))


def refuse_if_taken(values: Mapping[str, Any], path: tuple[str, ...]) -> None:
    """Tables can be appended only where nothing else than a table stands."""
    found: Any = values
    for name in path:
        if not isinstance(found, Mapping):
            raise InvalidValueError(f"`{'.'.join(path)}` is not a table", 1, "mend it, or remove it")
        found = found.get(name)
        if found is None:
            return
