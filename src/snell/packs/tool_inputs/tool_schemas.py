"""
What tools require: compact entries for known tools, JSON Schemas for those that a user or server describes.

Names are compared without case: the complete name, or the part after the last `__`, `.`, `:` or `/`, so that
`mcp__mail__gmail_send_email` is found and `TodoWrite` is not taken for `Write`.
"""

import json
import os
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.engine.json_schema import TOOL_SCHEMAS
from snell.model.events import as_table
from snell.system.files import FileError, read_capped
from snell.system.lazy_regex import lazy_regex
from snell.system.mcp_tool_schemas import LearnedTool

LARGEST = 2_000_000
DEEPEST = 6
MOST = 200  # parts of a schema that are read
_TYPES: Mapping[str, tuple[type, ...]] = {
    "array": (list,),
    "object": (dict,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_SEPARATORS = lazy_regex(r"__|[.:/]")


class Entry(Struct, frozen=True, dict=True):
    """What one tool requires."""

    required: tuple[str, ...] = ()
    required_any: tuple[tuple[str, ...], ...] = ()  # at least one of each group
    min_lengths: Mapping[str, int] = {}
    example: Mapping[str, Any] = {}
    schema: Mapping[str, Any] | None = None
    is_ours: bool = False  # a schema of our own, for which the engine's small validator is enough
    types: Mapping[str, tuple[type, ...]] = {}  # of further fields that are not text; they are not required

    @cached_property
    def field_types(self) -> Mapping[str, Any]:
        """The types of the fields that are not text, from the schema or from the example."""
        if self.schema is None:
            shown = {name: type(value) for name, value in self.example.items() if not isinstance(value, str)}
            return {**shown, **self.types}
        return {**_types_in(self.schema), **self.types}


class _Tools(Struct, frozen=True):
    """The tables of `tools.json`."""

    known: dict[str, Entry]
    types: dict[str, dict[str, str]]  # fields of the clients' own tools that are not text
    schema_keys: frozenset[str]  # any of these identifies a JSON Schema; none of them is part of the short form


_TOOLS = msgspec.json.decode(Path(__file__).with_name("tools.json").read_bytes(), type=_Tools)
KNOWN = _TOOLS.known


def entry_for(tool: str, options: Mapping[str, Any], learned: LearnedTool | None = None) -> Entry | None:
    """
    Return what is known about a tool.

    The user's own entries first, then files, then what its MCP server listed, then ours, then the clients' own tools.
    """
    if options.get("tools") or options.get("files"):
        own = _own(options)
        for name in _names(tool):
            if name in own:
                return own[name]
    if learned is not None and learned.schema:
        return _schema_entry(learned.schema)
    return _built_in(tool)


@lru_cache(maxsize=1024)
def _built_in(tool: str) -> Entry | None:
    for name in _names(tool):
        if name in KNOWN:
            return KNOWN[name]
    types = {field: _TYPES[kind] for field, kind in _TOOLS.types.get(tool, {}).items()}
    if tool in TOOL_SCHEMAS:
        return Entry(schema=TOOL_SCHEMAS[tool], is_ours=True, types=types)
    return Entry(types=types) if types else None


def _names(tool: str) -> tuple[str, ...]:
    """Return the complete name, then the longest part after a separator, and so on."""
    lowered = tool.lower()
    cuts = [found.end() for found in _SEPARATORS.finditer(lowered)]
    return (lowered, *(lowered[cut:] for cut in cuts if lowered[cut:]))


def _own(options: Mapping[str, Any]) -> dict[str, Entry]:
    written: dict[str, Any] = {}
    files, tools = options.get("files"), options.get("tools")
    for path in files if isinstance(files, list) else ():
        written |= schemas_in(str(path))[0]
    written |= tools if isinstance(tools, dict) else {}
    return {str(name).lower(): entry_from(each) for name, each in written.items() if isinstance(each, dict)}


def entry_from(written: Mapping[str, Any]) -> Entry:
    """Return an entry from the settings: the short form, or a JSON Schema. What is not understood is ignored."""
    if is_schema(written):
        return _schema_entry(written)
    lengths, groups, example = (written.get(name) for name in ("min_lengths", "required_any", "example"))
    least = {str(k): v for k, v in lengths.items() if isinstance(v, int)} if isinstance(lengths, dict) else {}
    if isinstance(written.get("content_min_length"), int):
        least["content"] = written["content_min_length"]
    return Entry(
        _texts(written.get("required")),
        tuple(_texts(group) for group in groups) if isinstance(groups, list) else (),
        least,
        as_table(example),
    )


def _schema_entry(schema: Mapping[str, Any]) -> Entry:
    examples = schema.get("examples")
    return Entry(schema=schema, example=as_table(examples[0] if isinstance(examples, list) and examples else None))


def is_schema(written: Mapping[str, Any]) -> bool:
    return not _TOOLS.schema_keys.isdisjoint(written)


def _texts(value: Any) -> tuple[str, ...]:
    """Return texts of a list; a single text is accepted like a list of one."""
    value = [value] if isinstance(value, str) else value
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def schemas_in(path: str) -> tuple[dict[str, Any], str]:
    """Return the entries of a file, and why there are none when it cannot be read."""
    path = os.path.expanduser(path)
    try:
        return _read(path, Path(path).stat().st_mtime_ns)
    except (OSError, ValueError) as error:  # the second for a path that cannot exist
        return {}, f"it cannot be read: {getattr(error, 'strerror', error)}"


@lru_cache(maxsize=16)
def _read(path: str, _changed: int) -> tuple[dict[str, Any], str]:
    try:
        found = json.loads(read_capped(Path(path), LARGEST))
    except (ValueError, OSError, FileError, RecursionError) as error:
        return {}, f"it cannot be read: {error}"
    return (found, "") if isinstance(found, dict) else ({}, "it does not contain a table of tools")


def _types_in(schema: Mapping[str, Any]) -> dict[str, tuple[type, ...]]:
    """Return the types of each field that cannot be text, also behind `$ref`, `allOf`, `anyOf` and `oneOf`."""
    rows: dict[str, Any] = {}  # the first schema of a field, if there are several
    for part in _parts(schema, schema, [MOST], DEEPEST):
        rows = {**as_table(part.get("properties")), **rows}
    return {name: found for name, row in rows.items() if (found := _types_without_text(row, schema))}


def _types_without_text(row: Any, root: Mapping[str, Any]) -> tuple[type, ...]:
    names: set[str] = set()
    for part in _parts(row, root, [MOST], DEEPEST):
        kind = part.get("type")
        names.update(each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str))
        given = part.get("enum", [part["const"]] if "const" in part else [])
        if isinstance(given, list) and any(isinstance(each, str) for each in given):
            return ()
    return () if "string" in names else tuple(kind for name in sorted(names) for kind in _TYPES.get(name, ()))


def resolve_ref(ref: Any, root: Mapping[str, Any]) -> Any:
    """Return what a reference inside the schema points at, or None; nothing is fetched."""
    if not isinstance(ref, str) or not ref.startswith("#/"):
        return None
    found: Any = root
    for part in ref[2:].split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found


def _parts(row: Any, root: Mapping[str, Any], left: list[int], depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield a schema, and those that it is composed of."""
    left[0] -= 1
    if not isinstance(row, dict) or depth <= 0 or left[0] < 0:
        return
    yield row
    if found := resolve_ref(row.get("$ref"), root):
        yield from _parts(found, root, left, depth - 1)
    for key in ("allOf", "anyOf", "oneOf"):
        inner = row.get(key)
        for each in inner if isinstance(inner, list) else ():
            yield from _parts(each, root, left, depth - 1)
