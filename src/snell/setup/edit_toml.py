"""
Edit TOML text and keep everything else in it: tables are appended as text and removed line by line.

Every result is parsed again and compared with the expected values before it may be written.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import msgspec

from snell.model.events import value_at
from snell.model.installs import FileEdit, Member, TomlTables
from snell.settings.read_toml import TableLines, locate_tables, read_toml
from snell.settings.snell_commands import is_snell_entry, runs_shim
from snell.settings.value_tree import InvalidValueError

CANNOT_REMOVE = "Snell's entries cannot be removed without a change to other entries"


def insert_toml(text: str, file: FileEdit) -> str:
    """Return the text with Snell's tables. Raises InvalidValueError where they cannot be added."""
    wanted = [list(edit.items) if isinstance(edit, TomlTables) else getattr(edit, "value", None) for edit in file.edits]
    if _snell_values(parse_toml(text), file) == wanted:
        return text
    text = before = remove_toml(text, file)
    values = parse_toml(text)
    for edit in file.edits:
        if isinstance(edit, Member):
            refuse_if_taken(values, edit.at)
            text = append_table(text, toml_table(".".join(edit.at), edit.value))
        elif isinstance(edit, TomlTables):
            text = append_table(text, "\n\n".join(toml_table(edit.name, item, is_entry=True) for item in edit.items))
    if _snell_values(values_of_edited(text, parse_toml), file) != wanted:
        edits = (edit for edit in file.edits if isinstance(edit, TomlTables | Member))
        names = [edit.name if isinstance(edit, TomlTables) else edit.at[0] for edit in edits]
        message = f"`{'`, `'.join(names)}` is written in a form to which nothing can be added"
        raise InvalidValueError(message, first_line_of(before, names), "write it as tables, with headers in brackets")
    return text


def remove_toml(text: str, file: FileEdit) -> str:
    """Return the text without Snell's tables. Raises InvalidValueError if that would change others."""
    before = parse_toml(text)
    members = [edit.at for edit in file.edits if isinstance(edit, Member) and is_snell_entry(value_at(before, edit.at))]
    entries = [edit.name for edit in file.edits if isinstance(edit, TomlTables)]

    def is_removed(table: TableLines, values: Mapping[str, Any]) -> bool:
        if table.is_entry:
            return table.name in [(name,) for name in entries] and runs_shim(values)
        return any(table.name[: len(at)] == at for at in members)

    text = without_tables(text, is_removed)
    if _other_values(parse_toml(text), file) != _other_values(before, file):
        raise InvalidValueError(CANNOT_REMOVE, 1, "remove them by hand")
    return text


def values_of_edited(text: str, parse: Callable[[str], Any]) -> Any:
    """Return the values of a text that Snell made; nothing if it cannot be parsed, which is no mistake of the user."""
    try:
        return parse(text)
    except InvalidValueError:
        return {}


def _snell_values(values: Mapping[str, Any], file: FileEdit) -> list[Any]:
    found: list[Any] = []
    for edit in file.edits:
        if isinstance(edit, TomlTables):
            items = values.get(edit.name, ())
            found.append([item for item in items if runs_shim(item)] if isinstance(items, list) else [])
        elif isinstance(edit, Member):
            found.append(value_at(values, edit.at))
    return found


def _other_values(values: Mapping[str, Any], file: FileEdit) -> Any:
    """Return the values without Snell's, and without tables that hold nothing else."""
    left = deepcopy(dict(values))
    for edit in file.edits:
        if isinstance(edit, TomlTables) and isinstance(left.get(edit.name), list):
            left[edit.name] = [item for item in left[edit.name] if not runs_shim(item)]
            if not left[edit.name]:
                del left[edit.name]
        elif isinstance(edit, Member) and is_snell_entry(value_at(left, edit.at)):
            drop_value(left, edit.at)
    return left


def drop_value(values: dict[str, Any], path: tuple[str, ...]) -> None:
    """Remove the value at a path, and the mappings that are empty without it."""
    if not path or path[0] not in values:
        return
    if len(path) == 1:
        del values[path[0]]
    elif isinstance(values[path[0]], dict):
        drop_value(values[path[0]], path[1:])
        if not values[path[0]]:
            del values[path[0]]


def parse_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML text. Raises InvalidValueError with the line."""
    read_toml(text)  # its messages name lines, those of tomllib do not always
    return tomllib.loads(text)


def append_table(text: str, table: str) -> str:
    """Return the text with a table added at its end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join(table.strip("\n").split("\n")) + newline
    if not text.strip():
        return text + block
    gap = newline if text.endswith("\n") else newline * 2
    return text + gap + block


def without_tables(text: str, is_removed: Callable[[TableLines, Mapping[str, Any]], bool]) -> str:
    """Return the text without the tables that `is_removed` selects, and without the empty line before each."""
    lines = text.split("\n")
    kept, previous_end = [], 0
    for table in locate_tables(text):
        inside = "\n".join(line.rstrip("\r") for line in lines[table.first + 1 : table.last + 1])
        if not is_removed(table, tomllib.loads(inside)):
            continue
        first = table.first - 1 if table.first > previous_end and not lines[table.first - 1].strip() else table.first
        kept += lines[previous_end:first]
        previous_end = table.last + 1
    kept += lines[previous_end:]
    return "\n".join(kept).removesuffix("\r")  # half of a line end, where the last line was removed and had none


def with_value(text: str, table: tuple[str, ...], name: str, value: Any) -> str:
    """Return the text with one value of one table (of the file: `()`) changed or added. Raises InvalidValueError."""
    refuse_if_taken(parse_toml(text), table)
    lines, tables = text.split("\n"), locate_tables(text)
    found = next((each for each in tables if each.name == table and not each.is_entry), None)
    if not table:
        found = TableLines((), is_entry=False, first=-1, last=tables[0].first - 1 if tables else len(lines) - 1)
    line, end = f"{name} = {toml_value(value)}", "\r" if "\r\n" in text else ""
    given = re.compile(rf"""[ \t]*["']?{re.escape(name)}["']?[ \t]*=""")
    if found is None:
        after = append_table(text, toml_table(".".join(table), {name: value}))
    elif (at := next((n for n in range(found.first + 1, found.last + 1) if given.match(lines[n])), -1)) >= 0:
        remark = lines[at].find("#")
        kept = f"  {lines[at][remark:].rstrip()}" if remark >= 0 else ""
        after = "\n".join([*lines[:at], f"{line}{kept}{end}", *lines[at + 1 :]])
    else:
        after = "\n".join([*lines[: found.first + 1], f"{line}{end}", *lines[found.first + 1 :]])
    if value_at(values_of_edited(after, parse_toml), (*table, name)) != value:
        message = f"`{'.'.join(table) or name}` is written in a form that Snell cannot edit"
        raise InvalidValueError(message, first_line_of(after, table[-1:] or [name]), "change it by hand")
    return after


def toml_table(name: str, values: Mapping[str, Any], *, is_entry: bool = False) -> str:
    """Return one table as text."""
    header = f"[[{name}]]" if is_entry else f"[{name}]"
    return "\n".join((header, *(f"{key} = {toml_value(value)}" for key, value in values.items())))


def toml_value(value: Any) -> str:
    """Return a value as TOML text."""
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml_value(each)}" for key, each in value.items()) + " }"
    text = msgspec.json.encode(str(value)).decode()
    return text.replace("\x7f", "\\u007f")


def first_line_of(text: str, names: Sequence[str]) -> int:
    """Return the line that first gives one of these names a value or a table, else the last line."""
    lines = text.split("\n")
    given = re.compile(rf"""[ \t]*\[*[ \t]*["']?(?:{"|".join(map(re.escape, names))})["']?[ \t]*[=.\]]""")
    return next((number for number, line in enumerate(lines, 1) if given.match(line)), len(lines))


def refuse_if_taken(values: Mapping[str, Any], path: tuple[str, ...]) -> None:
    """Raise InvalidValueError if a value on this path is not a table, so that no table can be added below it."""
    found: Any = values
    for name in path:
        if not isinstance(found, Mapping):
            raise InvalidValueError(f"`{'.'.join(path)}` is not a table", 1, "correct it, or remove it")
        found = found.get(name)
        if found is None:
            return
