"""
Edit YAML text line by line: one entry under one top-level key, in block style; nothing else changes.

Every result is parsed again and compared with the expected values before it may be written.
"""

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from snell.model.events import value_at
from snell.model.installs import FileEdit, Member
from snell.settings.read_yaml import read_yaml
from snell.settings.snell_commands import is_snell_entry
from snell.settings.value_tree import InvalidValueError, plain
from snell.setup.edit_toml import CANNOT_REMOVE, drop_value, toml_value, values_of_edited

_INDENT = re.compile(r"[ ]*")


def insert_yaml(text: str, file: FileEdit) -> str:
    """Return the text with Snell's entries. Raises InvalidValueError where they cannot be added."""
    values = yaml_values(text) if text.strip() else None
    for edit in file.edits:
        if isinstance(edit, Member) and (found := value_at(values, edit.at)) != edit.value:
            if found is not None and not is_snell_entry(found):
                message = f"`{'.'.join(edit.at)}` exists already, and is not Snell's"
                raise InvalidValueError(message, 1, "rename it, or remove it")
            expected = _with_value(values if isinstance(values, dict) else {}, edit.at, edit.value)
            text = with_entry(text, edit.at[0], edit.at[1], edit.value)
            values = values_of_edited(text, yaml_values)
            if values != expected:
                message = f"`{edit.at[0]}` is written in braces, to which nothing can be added"
                raise InvalidValueError(message, 1, "write it in block style, one name on each line")
    return text


def remove_yaml(text: str, file: FileEdit) -> str:
    """Return the text without Snell's entries. Raises InvalidValueError if that would change others."""
    values = yaml_values(text) if text.strip() else None
    for edit in file.edits:
        if isinstance(edit, Member) and is_snell_entry(value_at(values, edit.at)):
            expected: Any = deepcopy(values)
            drop_value(expected, edit.at)
            text = without_entry(text, edit.at[0], edit.at[1])
            values = yaml_values(text) or {}
            if values != expected:
                raise InvalidValueError(CANNOT_REMOVE, 1, "remove them by hand")
    return text


def _with_value(values: dict[str, Any], path: tuple[str, ...], value: Any) -> Any:
    copy = deepcopy(values)
    inner = copy
    for name in path[:-1]:
        if not isinstance(inner.get(name), dict):
            inner[name] = {}
        inner = inner[name]
    inner[path[-1]] = value
    return copy


def yaml_values(text: str) -> Any:
    """Return the values of a YAML text. Raises InvalidValueError with the line."""
    node = read_yaml(text)
    return plain(node) if node else None


def with_entry(text: str, top: str, name: str, value: Mapping[str, Any]) -> str:
    """Return the text with `top.name` set to a mapping of strings, numbers, booleans, lists and empty mappings."""
    text = without_entry(text, top, name)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(newline)
    at = _top_line(lines, top)
    if at is None:
        gap = "" if not text or text.endswith(newline) else newline
        block = newline.join([f"{top}:", *_block(name, value, "  ")])
        return f"{text}{gap}{block}{newline}"
    rest = lines[at].split(":", 1)[1].split(" #", 1)[0].strip()
    if rest not in ("", "{}", "null", "~"):
        raise InvalidValueError(f"`{top}` is written on one line", at + 1, "write one entry on each line")
    if rest:
        lines[at] = f"{top}:"
    first = next((line for line in lines[at + 1 :] if line.strip() and not line.lstrip().startswith("#")), "")
    indent = _indent(first) or "  "
    return newline.join([*lines[: at + 1], *_block(name, value, indent), *lines[at + 1 :]])


def without_entry(text: str, top: str, name: str) -> str:
    """Return the text without `top.name`, and without `top` if it is empty then."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(newline)
    at = _top_line(lines, top)
    if at is None:
        return text
    end = _end(lines, at)
    for number in range(at + 1, end):
        indent = _indent(lines[number])
        if indent and lines[number].strip().split(":")[0].strip("\"'") == name and ":" in lines[number]:
            last = _end(lines, number)
            left = lines[:number] + lines[last:]
            if not any(line.strip() for line in lines[at + 1 : number] + lines[last:end]):
                left = lines[:at] + (lines[last:] or [""])  # the line before keeps its end
            return newline.join(left)
    return text


def _block(name: str, value: Mapping[str, Any], indent: str) -> list[str]:
    # Strings, lists and numbers of TOML are valid YAML.
    lines = (f"{indent * 2}{key}: {toml_value(each) if each != {} else '{}'}" for key, each in value.items())
    return [f"{indent}{name}:", *lines]


def _top_line(lines: list[str], top: str) -> int | None:
    return next((number for number, line in enumerate(lines) if line.startswith(f"{top}:")), None)


def _end(lines: list[str], start: int) -> int:
    """Return the line after everything that is indented deeper than this line, without blank lines at its end."""
    depth, end = len(_indent(lines[start])), start + 1
    for number in range(start + 1, len(lines)):
        if len(_indent(lines[number])) > depth and lines[number].strip():
            end = number + 1
        elif lines[number].strip() and not lines[number].lstrip().startswith("#"):
            break  # a comment may be indented less than what it is about
    return end


def _indent(line: str) -> str:
    found = _INDENT.match(line)
    return found.group() if found else ""
