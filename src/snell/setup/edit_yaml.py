"""
Edits of YAML by lines: one entry under one top-level key, in block style, and nothing else touched.

The result is read again and compared with what it should mean before anybody may write it.
"""

import re
from collections.abc import Mapping
from typing import Any

from snell.settings.problems import InvalidValueError
from snell.settings.read_yaml import read_yaml
from snell.settings.value_tree import plain
from snell.setup.edit_toml import toml_value

_INDENT = re.compile(r"[ ]*")


def yaml_values(text: str) -> Any:
    """The values of a YAML text. Raises WrongError with the line."""
    node = read_yaml(text)
    return plain(node) if node else None


def with_entry(text: str, top: str, name: str, value: Mapping[str, Any]) -> str:
    """The text with `top.name` set to a mapping of texts, numbers, flags, lists and empty mappings."""
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
        raise InvalidValueError(f"`{top}` is written on one line", at + 1, "write its entries on lines of their own")
    if rest:
        lines[at] = f"{top}:"
    first = next((line for line in lines[at + 1 :] if line.strip() and not line.lstrip().startswith("#")), "")
    indent = _indent(first) or "  "
    return newline.join([*lines[: at + 1], *_block(name, value, indent), *lines[at + 1 :]])


def without_entry(text: str, top: str, name: str) -> str:
    """The text without `top.name`, and without `top` when nothing is left of it."""
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
                left = lines[:at] + lines[last:]
            return newline.join(left)
    return text


def _block(name: str, value: Mapping[str, Any], indent: str) -> list[str]:
    return [f"{indent}{name}:", *(f"{indent * 2}{key}: {_scalar(each)}" for key, each in value.items())]


def _scalar(value: Any) -> str:
    return "{}" if value == {} else toml_value(value)  # quoted texts, lists and numbers of TOML are YAML too


def _top_line(lines: list[str], top: str) -> int | None:
    return next((number for number, line in enumerate(lines) if line.startswith(f"{top}:")), None)


def _end(lines: list[str], start: int) -> int:
    """The line after what is indented deeper than this one; blank lines at its end do not belong to it."""
    depth, end = len(_indent(lines[start])), start + 1
    for number in range(start + 1, len(lines)):
        if not lines[number].strip():
            continue
        if len(_indent(lines[number])) <= depth:
            break
        end = number + 1
    return end


def _indent(line: str) -> str:
    found = _INDENT.match(line)
    return found.group() if found else ""
