"""
What set-up wants of a file, applied to its bytes: put in, taken out, looked for.

Pure functions from bytes to bytes. Doing the same twice changes nothing, and taking out leaves what others wrote.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from snell.model.installs import Block, Edit, Entries, FileEdit, Lists, Member, Whole, Wrapped
from snell.settings.problems import InvalidValueError
from snell.settings.snell_commands import (
    is_snell_entry,
    others_in,
    runs_only_shim,
    runs_shim,
    wrap_command,
    wrapped_command,
)
from snell.settings.value_tree import text_of
from snell.setup.edit_json import JsonText, Span
from snell.setup.edit_markdown import has_block, with_block, without_block
from snell.setup.edit_toml import append_table, first_line_of, parse_toml, refuse_if_taken, toml_table, without_tables
from snell.setup.edit_yaml import with_entry, without_entry, yaml_values

BOM = "\ufeff"
OUR_MARK = "written by `snell setup`"  # in every file that is ours as a whole


def put_in(data: bytes | None, file: FileEdit) -> bytes:
    """The file's bytes with everything of ours in them. Raises WrongError, with its line, for a malformed file."""
    if file.format == "whole":
        return _whole(data, file)
    text = _text(data) if data is not None else ""
    bom, text = (BOM, text.removeprefix(BOM)) if text.startswith(BOM) else ("", text)
    return (bom + _EDITORS[file.format][0](text, file)).encode()


def taken_out(data: bytes | None, file: FileEdit) -> bytes | None:
    """The file's bytes without anything of ours; None when the file would hold nothing of anybody's."""
    if data is None or (file.format == "whole" and is_our_file(data)):
        return None
    if file.format == "whole":
        return data
    text = _text(data)
    bom, text = (BOM, text.removeprefix(BOM)) if text.startswith(BOM) else ("", text)
    left = _EDITORS[file.format][1](text, file)
    return (bom + left).encode() if left != text else data


def is_our_file(data: bytes) -> bool:
    """A file that says so, or a hook file that runs nothing but ours: some clients take no key they do not know."""
    if OUR_MARK.encode() in data:
        return True
    try:
        value = JsonText(_text(data).removeprefix(BOM)).root.value
    except InvalidValueError:
        return False
    return runs_only_shim(value)


def foreign_hooks(data: bytes | None, file: FileEdit) -> list[str]:
    """What stands beside ours in the same lists: `event: command`, for a person."""
    if data is None or file.format == "whole":
        return []
    text = _text(data).removeprefix(BOM)
    if not text.strip():
        return []
    if file.format == "toml":
        names = [edit.name for edit in file.edits if isinstance(edit, Entries)]
        items = [item for name in names for item in parse_toml(text).get(name, ()) if isinstance(item, Mapping)]
        return [f"{item.get('event')}: {item.get('command')}" for item in items if not runs_shim(item)]
    found: list[str] = []
    for edit in file.edits:
        if isinstance(edit, Lists):
            for name, items in _lists(JsonText(text, comments=file.format == "jsonc"), edit.at):
                found += [f"{name}: {text}" for item in items for text in others_in(item)]
    return found


def _whole(data: bytes | None, file: FileEdit) -> bytes:
    if data is not None and not is_our_file(data):
        raise InvalidValueError("somebody else's file stands here", 1, "rename it, or leave this client to it")
    return "".join(edit.text for edit in file.edits if isinstance(edit, Whole)).encode()


def _json_in(text: str, file: FileEdit) -> str:
    document = JsonText(text if text.strip() else "{}\n", comments=file.format == "jsonc")
    if not text.strip():
        for name, value in file.start.items():
            document.put((name,), value)
    for edit in file.edits:
        _JSON[type(edit)](document, edit)
    return document.text


def _json_out(text: str, file: FileEdit) -> str:
    if not text.strip():
        return text
    document = JsonText(text, comments=file.format == "jsonc")
    for edit in file.edits:
        _JSON_OUT[type(edit)](document, edit)
    return document.text


def _put_lists(document: JsonText, edit: Any) -> None:
    stale = [
        name
        for name, items in _lists(document, edit.at)
        if [item for item in items if runs_shim(item)] != list(edit.lists.get(name, ()))
    ]
    _cut_names(document, edit.at, stale, kept=edit.lists)
    there = dict(_lists(document, edit.at))
    document.extend(
        edit.at,
        {name: [item for item in wanted if item not in there.get(name, ())] for name, wanted in edit.lists.items()},
    )


def _cut_lists(document: JsonText, edit: Any) -> None:
    was_there = [name for name, items in _lists(document, edit.at) if any(map(runs_shim, items))]
    _cut_names(document, edit.at, was_there)
    if was_there and edit.at:
        _cut_empty(document, edit.at)


def _put_member(document: JsonText, edit: Any) -> None:
    found = document.find(edit.at)
    if found and found.value != edit.value and not is_snell_entry(found.value):
        message = f"`{'.'.join(edit.at)}` is there already, and it is not ours"
        raise InvalidValueError(message, document.line_of(found), "rename it, or remove it")
    document.put(edit.at, edit.value)


def _cut_member(document: JsonText, edit: Any) -> None:
    found = document.find(edit.at)
    if found and is_snell_entry(found.value):
        document.cut(edit.at)
        _cut_empty(document, edit.at[:-1])


def _put_wrapped(document: JsonText, edit: Any) -> None:
    span = document.find(edit.at)
    if span is None:
        if not edit.only_existing:
            document.put(edit.at, {"type": "command", "command": wrap_command(edit.command, "", edit.test)})
        return
    command = span.value.get("command") if isinstance(span.value, dict) else None
    if not isinstance(command, str):
        raise InvalidValueError(f"`{'.'.join(edit.at)}` has no `command`", 1, "mend it, or remove it")
    inner = wrapped_command(command)
    inner = command if inner is None else inner
    document.put((*edit.at, "command"), wrap_command(edit.command, inner, edit.test))


def _cut_wrapped(document: JsonText, edit: Any) -> None:
    span = document.find(edit.at)
    command = span.value.get("command") if span and isinstance(span.value, dict) else None
    inner = wrapped_command(command) if isinstance(command, str) else None
    if inner:
        document.put((*edit.at, "command"), inner)
    elif inner == "":
        document.cut(edit.at)


def _cut_names(document: JsonText, at: tuple[str, ...], names: Collection[str], kept: Collection[str] = ()) -> None:
    """Take ours out of the lists of these names. A list that held nothing else goes too, unless it is to be kept."""
    inside = document.find(at)
    places: list[tuple[Span | None, Collection[int]]] = []
    whole = set()
    for number, item in enumerate(inside.items if inside else ()):
        if item.key in names and item.key not in kept and all(map(runs_only_shim, item.span.value)):
            whole.add(number)
        elif item.key in names:
            places += _ours_in(item.span)
    document.cut_all([*places, (inside, whole)])


def _ours_in(span: Span) -> Iterator[tuple[Span, Collection[int]]]:
    yield span, {number for number, item in enumerate(span.value) if runs_only_shim(item)}
    for item in span.items:
        inner = next((each.span for each in item.span.items if each.key == "hooks"), None)
        if inner and runs_shim(item.span.value) and not runs_only_shim(item.span.value):
            yield from _ours_in(inner)  # somebody put a hook of theirs beside ours into one group: theirs stays


def _cut_empty(document: JsonText, path: tuple[str, ...]) -> None:
    span = document.find(path) if path else None
    if span and span.value == {}:
        document.cut(path)
        _cut_empty(document, path[:-1])


def _lists(document: JsonText, at: tuple[str, ...]) -> Iterator[tuple[str, list[Any]]]:
    span = document.find(at)
    if span is not None and not isinstance(span.value, dict):
        raise InvalidValueError(f"`{'.'.join(at)}` is not an object", document.line_of(span), "mend it, or remove it")
    for item in span.items if span else ():
        if isinstance(item.span.value, list):
            yield item.key, item.span.value


def _toml_in(text: str, file: FileEdit) -> str:
    values = parse_toml(text)
    if _toml_ours(values, file) == _wanted(file):
        return text
    text = before = _toml_out(text, file)
    values = parse_toml(text)
    for edit in file.edits:
        if isinstance(edit, Member):
            refuse_if_taken(values, edit.at)
            text = append_table(text, toml_table(".".join(edit.at), edit.value))
        elif isinstance(edit, Entries):
            text = append_table(text, "\n\n".join(toml_table(edit.name, item, is_entry=True) for item in edit.items))
    try:
        result = parse_toml(text)
    except InvalidValueError:
        message = "what is there is written so that nothing can be added"
        names = [edit.name for edit in file.edits if isinstance(edit, Entries)]
        names += [edit.at[0] for edit in file.edits if isinstance(edit, Member)]
        raise InvalidValueError(
            message, first_line_of(before, names), "write it as tables, with headers in brackets"
        ) from None
    if _toml_ours(result, file) != _wanted(file):
        raise InvalidValueError("what is there is written so that nothing can be added", 1, "write it as tables")
    return text


def _toml_out(text: str, file: FileEdit) -> str:
    before = parse_toml(text)
    members = [edit.at for edit in file.edits if isinstance(edit, Member) and is_snell_entry(_at(before, edit.at))]
    entries = [edit.name for edit in file.edits if isinstance(edit, Entries)]

    def goes(table: Any, values: Mapping[str, Any]) -> bool:
        if table.is_entry:
            return table.name in [(name,) for name in entries] and runs_shim(values)
        return any(table.name[: len(at)] == at for at in members)

    text = without_tables(text, goes)
    if _toml_others(parse_toml(text), file) != _toml_others(before, file):
        raise InvalidValueError("ours cannot be taken out without touching what is not ours", 1, "remove it by hand")
    return text


def _wanted(file: FileEdit) -> list[Any]:
    return [list(edit.items) if isinstance(edit, Entries) else getattr(edit, "value", None) for edit in file.edits]


def _toml_ours(values: Mapping[str, Any], file: FileEdit) -> list[Any]:
    found: list[Any] = []
    for edit in file.edits:
        if isinstance(edit, Entries):
            items = values.get(edit.name, ())
            found.append([item for item in items if runs_shim(item)] if isinstance(items, list) else [])
        elif isinstance(edit, Member):
            found.append(_at(values, edit.at))
    return found


def _toml_others(values: Mapping[str, Any], file: FileEdit) -> Any:
    """The values without ours, and without tables that hold nothing but ours."""
    left = _copy(values)
    for edit in file.edits:
        if isinstance(edit, Entries) and isinstance(left.get(edit.name), list):
            left[edit.name] = [item for item in left[edit.name] if not runs_shim(item)]
            if not left[edit.name]:
                del left[edit.name]
        elif isinstance(edit, Member) and is_snell_entry(_at(left, edit.at)):
            _drop(left, edit.at)
    return left


def _yaml_in(text: str, file: FileEdit) -> str:
    values = yaml_values(text) if text.strip() else None
    for edit in file.edits:
        if isinstance(edit, Member) and (found := _at(values, edit.at)) != edit.value:
            if found is not None and not is_snell_entry(found):
                raise InvalidValueError(f"`{'.'.join(edit.at)}` is there already, and it is not ours", 1, "rename it")
            expected = _set(values if isinstance(values, dict) else {}, edit.at, edit.value)
            text = with_entry(text, edit.at[0], edit.at[1], edit.value)
            values = _yaml_or_none(text)
            if values != expected:
                message = "what is there is written in braces, where nothing can be added"
                raise InvalidValueError(message, 1, "write it in block style, one name on each line")
    return text


def _yaml_or_none(text: str) -> Any:
    """Of a text that we made: that it cannot be read is nobody's mistake but ours."""
    try:
        return yaml_values(text)
    except InvalidValueError:
        return None


def _yaml_out(text: str, file: FileEdit) -> str:
    values = yaml_values(text) if text.strip() else None
    for edit in file.edits:
        if isinstance(edit, Member) and is_snell_entry(_at(values, edit.at)):
            expected = _copy(values)
            _drop(expected, edit.at)
            text = without_entry(text, edit.at[0], edit.at[1])
            values = yaml_values(text) or {}
            if values != expected:
                raise InvalidValueError(
                    "ours cannot be taken out without touching what is not ours", 1, "remove it by hand"
                )
    return text


def _block_in(text: str, file: FileEdit) -> str:
    for edit in file.edits:
        text = with_block(text, edit.text) if isinstance(edit, Block) else text
    return text


def _block_out(text: str, _file: FileEdit) -> str:
    return without_block(text) if has_block(text) else text


def _text(data: bytes) -> str:
    return (BOM if data.startswith(BOM.encode()) else "") + text_of(data)


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        values = values.get(name) if isinstance(values, Mapping) else None
    return values


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def _set(values: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    copy = _copy(values)
    inner = copy
    for name in path[:-1]:
        if not isinstance(inner.get(name), dict):
            inner[name] = {}
        inner = inner[name]
    inner[path[-1]] = value
    return copy  # type: ignore[no-any-return] # a mapping's copy is a dict


def _drop(values: dict[str, Any], path: tuple[str, ...]) -> None:
    """Remove the value at a path, and what is empty without it."""
    if not path or path[0] not in values:
        return
    if len(path) == 1:
        del values[path[0]]
    elif isinstance(values[path[0]], dict):
        _drop(values[path[0]], path[1:])
        if not values[path[0]]:
            del values[path[0]]


_JSON: Mapping[type, Callable[[JsonText, Edit], None]] = {
    Lists: _put_lists,
    Member: _put_member,
    Wrapped: _put_wrapped,
}
_JSON_OUT: Mapping[type, Callable[[JsonText, Edit], None]] = {
    Lists: _cut_lists,
    Member: _cut_member,
    Wrapped: _cut_wrapped,
}
Editor = Callable[[str, FileEdit], str]
_EDITORS: Mapping[str, tuple[Editor, Editor]] = {
    "json": (_json_in, _json_out),
    "jsonc": (_json_in, _json_out),
    "toml": (_toml_in, _toml_out),
    "yaml": (_yaml_in, _yaml_out),
    "markdown": (_block_in, _block_out),
}
