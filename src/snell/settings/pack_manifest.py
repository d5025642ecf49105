"""
Read a pack: a folder of hooks with a `pack.toml`.

    name    = "tidy"
    purpose = "keep the working tree clean"
    enabled = true                 # whether its hooks run unless the settings disable it
    [options]                      # the options of its hooks
"""

import re
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.model.errors import SettingsError
from snell.settings.problems import InvalidValueError
from snell.settings.read_toml import read_toml
from snell.settings.schema import Key, Spellings
from snell.settings.value_check import value_of
from snell.settings.value_tree import Node, text_of
from snell.system.files import FileError, read_capped

MANIFEST = "pack.toml"
LONGEST_MANIFEST = 1_000_000

PACK_KEYS: tuple[Key, ...] = (
    Key("name", "text", "the name of the pack; its hooks are `name/hook`", is_required=True),
    Key("purpose", "text", "one line on what the pack is for", default=""),
    Key("enabled", "flag", "whether its hooks run unless the settings disable it", default=True),
    Key("options", "table", "the options of its hooks"),
    Key(
        "choices",
        "table",
        "the valid values of an option of a built-in pack; an invalid value is replaced by the last of these",
    ),
)

_KEYS = Spellings(PACK_KEYS)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


class Pack(Struct, frozen=True):
    """The content of a `pack.toml`, and the files with the hooks."""

    name: str
    purpose: str = ""
    enabled: bool = True
    options: dict[str, Any] = {}
    choices: dict[str, list[str]] = {}
    files: tuple[Path, ...] = ()


def read_pack(folder: Path) -> Pack:
    """Read the pack in this folder. Raises SettingsError with file and line."""
    path = folder / MANIFEST
    try:
        values = _values(_table(path), folder)
    except InvalidValueError as wrong:
        raise SettingsError(wrong.message, where=f"{path}:{wrong.line}", advice=wrong.advice) from None
    return Pack(**values, files=hook_files(folder))


def hook_files(folder: Path) -> tuple[Path, ...]:
    """Return the Python files of a folder that may have hooks; files such as `_shared.py` are left out."""
    try:
        found = [path for path in folder.iterdir() if path.suffix == ".py" and not path.name.startswith(("_", "."))]
    except OSError as error:
        raise SettingsError(f"the folder cannot be read: {error.strerror}", where=f"`{folder}`") from None
    return tuple(sorted(path for path in found if path.is_file()))


def _table(path: Path) -> Node:
    try:
        data = read_capped(path, LONGEST_MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        advice = "create one with `snell new pack NAME`"
        raise SettingsError(f"there is no {MANIFEST} in `{path.parent}`", advice=advice) from None
    except (OSError, FileError) as error:
        raise InvalidValueError(
            f"the file cannot be read: {error}", 1, "check what it is and its permissions"
        ) from None
    return read_toml(text_of(data)) or Node({}, 1)


def _values(table: Node, folder: Path) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for spelled, node in table.value.items():
        key = _KEYS.find(spelled)
        if key is None:
            raise InvalidValueError(f"`{spelled[:80]}` is not a key of a pack", node.line, _KEYS.nearest(spelled))
        if key.name in values:
            raise InvalidValueError(f"`{key.name}` is given twice", node.line, "keep one of them")
        values[key.name] = value_of(key, node, spelled)
        if key.name == "name":
            _check_name(values["name"], node.line)
    if "name" not in values:
        raise InvalidValueError("the pack has no `name`", 1, f'add name = "{folder.resolve().name}", for example')
    return values


def _check_name(name: str, line: int) -> None:
    if not _NAME.fullmatch(name):
        advice = "use letters, digits, `_` and `-`, and begin with a letter"
        raise InvalidValueError(f"`{name[:80]}` cannot be the name of a pack", line, advice)
