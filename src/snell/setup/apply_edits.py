"""
Insert Snell's entries into the bytes of a configuration file, and remove them again.

Pure functions from bytes to bytes. To insert twice changes nothing; to remove keeps everything that is not Snell's.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from snell.model.installs import OUR_MARK, FileEdit, ListEntries, Member, OwnFile, TextBlock, TomlTables, WrappedCommand
from snell.settings.read_json import Span
from snell.settings.snell_commands import (
    is_snell_entry,
    others_in,
    runs_only_shim,
    runs_shim,
    wrap_command,
    wrapped_command,
)
from snell.settings.value_tree import InvalidValueError, text_of
from snell.setup.edit_json import CORRECT_IT, JsonText
from snell.setup.edit_markdown import with_block, without_block
from snell.setup.edit_toml import insert_toml, parse_toml, remove_toml
from snell.setup.edit_yaml import insert_yaml, remove_yaml

BOM = "\ufeff"


def insert_edits(data: bytes | None, file: FileEdit) -> bytes:
    """Return the file's bytes with all edits made. Raises InvalidValueError, with the line, for a malformed file."""
    if file.format == "own file":
        if data is not None and not is_snell_file(data):
            raise InvalidValueError("a file that Snell did not write is here", 1, "rename it, then run set-up again")
        return "".join(edit.text for edit in file.edits if isinstance(edit, OwnFile)).encode()
    bom, text = _split_bom(data)
    insert, _ = _EDITORS[file.format]
    return (bom + insert(text, file)).encode()


def remove_edits(data: bytes | None, file: FileEdit) -> bytes | None:
    """Return the file's bytes without Snell's entries; None for a file that only Snell wrote."""
    if data is None or (file.format == "own file" and is_snell_file(data)):
        return None
    if file.format == "own file":
        return data
    bom, text = _split_bom(data)
    _, remove = _EDITORS[file.format]
    left = remove(text, file)
    return (bom + left).encode() if left != text else data


def is_snell_file(data: bytes) -> bool:
    """
    Return whether only Snell wrote this file: it has Snell's mark, or all its hooks run `snell-hook`.

    Some clients reject unknown keys, so that their files cannot have the mark.
    """
    if OUR_MARK.encode() in data:
        return True
    try:
        value = JsonText(_split_bom(data)[1]).root.value
    except InvalidValueError:
        return False
    return runs_only_shim(value)


def other_hooks(data: bytes | None, file: FileEdit) -> list[str]:
    """Return the hooks in this file that are not Snell's, as `event: command`."""
    if data is None or file.format == "own file":
        return []
    text = _split_bom(data)[1]
    if not text.strip():
        return []
    if file.format == "toml":
        names = [edit.name for edit in file.edits if isinstance(edit, TomlTables)]
        items = [item for name in names for item in parse_toml(text).get(name, ()) if isinstance(item, Mapping)]
        return [f"{item.get('event')}: {item.get('command')}" for item in items if not runs_shim(item)]
    found: list[str] = []
    for edit in file.edits:
        if isinstance(edit, ListEntries):
            for name, items in _lists(JsonText(text, comments=file.format == "jsonc"), edit.at):
                found += [f"{name}: {text}" for item in items for text in others_in(item)]
    return found


def registered_events(data: bytes | None, file: FileEdit) -> set[str]:
    """Return the events, by the client's names, whose lists in this file have an entry of Snell."""
    if data is None or file.format not in ("json", "jsonc"):
        return set()
    document = JsonText(_split_bom(data)[1].strip() or "{}", comments=file.format == "jsonc")
    places = [edit.at for edit in file.edits if isinstance(edit, ListEntries)]
    return {name for at in places for name, items in _lists(document, at) if any(map(runs_shim, items))}


def _insert_json(text: str, file: FileEdit) -> str:
    document = JsonText(text if text.strip() else "{}\n", comments=file.format == "jsonc")
    if not text.strip():
        for name, value in file.start.items():
            document.put((name,), value)
    for edit in file.edits:
        _JSON_EDITORS[type(edit)][0](document, edit)
    return document.text


def _remove_json(text: str, file: FileEdit) -> str:
    if not text.strip():
        return text
    document = JsonText(text, comments=file.format == "jsonc")
    for edit in file.edits:
        _JSON_EDITORS[type(edit)][1](document, edit)
    return document.text


def _insert_lists(document: JsonText, edit: Any) -> None:
    stale = [
        name
        for name, items in _lists(document, edit.at)
        if [item for item in items if runs_shim(item)] != list(edit.lists.get(name, ()))
    ]
    _remove_from_lists(document, edit.at, stale, kept=edit.lists)
    there = dict(_lists(document, edit.at))
    document.extend(
        edit.at,
        {name: [item for item in wanted if item not in there.get(name, ())] for name, wanted in edit.lists.items()},
    )


def _remove_lists(document: JsonText, edit: Any) -> None:
    held = [name for name, items in _lists(document, edit.at) if any(map(runs_shim, items))]
    _remove_from_lists(document, edit.at, held)
    if held and edit.at:
        _remove_empty(document, edit.at)


def _insert_member(document: JsonText, edit: Any) -> None:
    found = document.find(edit.at)
    if found and found.value != edit.value and not is_snell_entry(found.value):
        message = f"`{'.'.join(edit.at)}` exists already, and is not Snell's"
        raise InvalidValueError(message, document.line_of(found), "rename it, or remove it")
    document.put(edit.at, edit.value)


def _remove_member(document: JsonText, edit: Any) -> None:
    found = document.find(edit.at)
    if found and is_snell_entry(found.value):
        document.remove(edit.at)
        _remove_empty(document, edit.at[:-1])


def _insert_wrapped(document: JsonText, edit: Any) -> None:
    span = document.find(edit.at)
    if span is None:
        if not edit.only_existing:
            document.put(edit.at, {"type": "command", "command": wrap_command(edit.command, "", edit.test)})
        return
    command = span.value.get("command") if isinstance(span.value, dict) else None
    if not isinstance(command, str):
        raise InvalidValueError(f"`{'.'.join(edit.at)}` has no `command`", 1, CORRECT_IT)
    inner = wrapped_command(command)
    inner = command if inner is None else inner
    document.put((*edit.at, "command"), wrap_command(edit.command, inner, edit.test))


def _remove_wrapped(document: JsonText, edit: Any) -> None:
    span = document.find(edit.at)
    command = span.value.get("command") if span and isinstance(span.value, dict) else None
    inner = wrapped_command(command) if isinstance(command, str) else None
    if inner:
        document.put((*edit.at, "command"), inner)
    elif inner == "":
        document.remove(edit.at)


def _remove_from_lists(
    document: JsonText, at: tuple[str, ...], names: Collection[str], kept: Collection[str] = ()
) -> None:
    """Remove Snell's entries from these lists. A list that is empty then is removed, too, unless it is in `kept`."""
    inside = document.find(at)
    places: list[tuple[Span | None, Collection[int]]] = []
    emptied = set()
    for number, item in enumerate(inside.items if inside else ()):
        if item.key in names and item.key not in kept and all(map(runs_only_shim, item.span.value)):
            emptied.add(number)
        elif item.key in names:
            places += _snell_items(item.span)
    document.remove_all([*places, (inside, emptied)])


def _snell_items(span: Span) -> Iterator[tuple[Span, Collection[int]]]:
    yield span, {number for number, item in enumerate(span.value) if runs_only_shim(item)}
    for item in span.items:
        inner = next((each.span for each in item.span.items if each.key == "hooks"), None)
        if inner and runs_shim(item.span.value) and not runs_only_shim(item.span.value):
            yield from _snell_items(inner)  # the user added a hook to Snell's group: it stays


def _remove_empty(document: JsonText, path: tuple[str, ...]) -> None:
    span = document.find(path) if path else None
    if span and span.value == {}:
        document.remove(path)
        _remove_empty(document, path[:-1])


def _lists(document: JsonText, at: tuple[str, ...]) -> Iterator[tuple[str, list[Any]]]:
    span = document.find(at)
    if span is not None and not isinstance(span.value, dict):
        raise InvalidValueError(f"`{'.'.join(at)}` is not an object", document.line_of(span), CORRECT_IT)
    for item in span.items if span else ():
        if isinstance(item.span.value, list):
            yield item.key, item.span.value


def _insert_block(text: str, file: FileEdit) -> str:
    for edit in file.edits:
        text = with_block(text, edit.text) if isinstance(edit, TextBlock) else text
    return text


def _split_bom(data: bytes | None) -> tuple[str, str]:
    """Return the byte order mark, if there is one, and the rest of the text."""
    if data is None:
        return "", ""
    return BOM if data.startswith(BOM.encode()) else "", text_of(data).removeprefix(BOM)


# By type of edit, and by format: a function that inserts, and one that removes.
JsonEditor = Callable[[JsonText, Any], None]
_JSON_EDITORS: Mapping[type, tuple[JsonEditor, JsonEditor]] = {
    ListEntries: (_insert_lists, _remove_lists),
    Member: (_insert_member, _remove_member),
    WrappedCommand: (_insert_wrapped, _remove_wrapped),
}
Editor = Callable[[str, FileEdit], str]
_EDITORS: Mapping[str, tuple[Editor, Editor]] = {
    **dict.fromkeys(("json", "jsonc"), (_insert_json, _remove_json)),
    "toml": (insert_toml, remove_toml),
    "yaml": (insert_yaml, remove_yaml),
    "markdown": (_insert_block, lambda text, _file: without_block(text)),
}
