"""
What tools require: compact entries for known tools, JSON Schemas for those that a user or server describes.

Names are compared without case: the complete name, or the part after the last `__`, `.`, `:` or `/`, so that
`mcp__mail__gmail_send_email` is found and `TodoWrite` is not taken for `Write`.
"""

import json
import os
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from snell.engine.json_schema import TOOL_SCHEMAS
from snell.packs.tool_inputs.schema_fields import types_in
from snell.system.files import FileError, read_capped
from snell.system.lazy_regex import lazy_regex
from snell.system.mcp_tool_schemas import LearnedTool

LARGEST = 2_000_000
# Any of these keys identifies a JSON Schema; none of them is part of the short form.
_SCHEMA_KEYS = frozenset(
    (
        *("$schema", "$id", "$ref", "$dynamicRef", "$defs", "definitions", "type", "properties", "patternProperties"),
        *("additionalProperties", "unevaluatedProperties", "propertyNames", "minProperties", "maxProperties"),
        *("dependentRequired", "dependentSchemas", "allOf", "anyOf", "oneOf", "not", "if", "enum", "const"),
    )
)
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
        return {**types_in(self.schema), **self.types}


def _entry(
    *required: str,
    any_of: tuple[tuple[str, ...], ...] = (),
    least: Mapping[str, int] = MappingProxyType({}),
    **example: Any,
) -> Entry:
    return Entry(required, any_of, least, example)


_LETTER = {"subject": "Report", "body": "It is attached.", "recipient_email": "a@example.com"}

KNOWN: Mapping[str, Entry] = {
    "write_local_file": _entry(
        "path", "content", least={"content": 10}, path="notes/report.md", content="# Report\n\nWhat was found ..."
    ),
    "upload_to_composio": _entry(
        "path", "tool_slug", "toolkit_slug", path="out/report.pdf", tool_slug="GMAIL_SEND_EMAIL", toolkit_slug="gmail"
    ),
    "read_local_file": _entry("path", path="notes/report.md"),
    "list_directory": _entry("path", path="notes"),
    "composio_multi_execute_tool": _entry("tools", tools=[{"tool_slug": "GMAIL_SEND_EMAIL", "arguments": _LETTER}]),
    "composio_search_news": _entry("query", query="what happened today"),
    "composio_search_web": _entry("query", query="how to parse TOML"),
    "gmail_send_email": _entry(
        "subject",
        "body",
        any_of=(("recipient_email", "to"),),
        subject=_LETTER["subject"],
        body=_LETTER["body"],
        recipient_email=_LETTER["recipient_email"],
    ),
    "write": _entry(
        "file_path", "content", least={"content": 10}, file_path="/project/notes.md", content="# Notes\n\n..."
    ),
}

_NUMBER, _YES_OR_NO, _LIST, _TABLE = (int, float), (bool,), (list,), (dict,)
# Fields of the clients' own tools that are not text: if one comes as text, it is parsed.
TYPES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "Agent": {"run_in_background": _YES_OR_NO, "max_turns": _NUMBER},
    "AskUserQuestion": {"questions": _LIST, "answers": _TABLE},
    "Bash": {"timeout": _NUMBER, "run_in_background": _YES_OR_NO, "dangerouslyDisableSandbox": _YES_OR_NO},
    "BashOutput": {"block": _YES_OR_NO, "wait_up_to": _NUMBER},
    "Edit": {"replace_all": _YES_OR_NO},
    "Grep": {"-A": _NUMBER, "-B": _NUMBER, "-C": _NUMBER, "-i": _YES_OR_NO, "-n": _YES_OR_NO, "context": _NUMBER,
             "multiline": _YES_OR_NO, "head_limit": _NUMBER, "offset": _NUMBER},
    "LS": {"ignore": _LIST},
    "MultiEdit": {"edits": _LIST},
    "NotebookEdit": {"cell_number": _NUMBER},
    "Read": {"offset": _NUMBER, "limit": _NUMBER},
    "Task": {"run_in_background": _YES_OR_NO, "max_turns": _NUMBER},
    "TaskCreate": {"metadata": _TABLE},
    "TaskOutput": {"block": _YES_OR_NO, "timeout": _NUMBER},
    "TaskUpdate": {"addBlocks": _LIST, "addBlockedBy": _LIST, "metadata": _TABLE},
    "TodoWrite": {"todos": _LIST, "merge": _YES_OR_NO},
    "WebSearch": {"allowed_domains": _LIST, "blocked_domains": _LIST},
}  # fmt: skip


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
        return Entry(schema=learned.schema, example=_example_in(learned.schema))
    return _built_in(tool)


@lru_cache(maxsize=1024)
def _built_in(tool: str) -> Entry | None:
    for name in _names(tool):
        if name in KNOWN:
            return KNOWN[name]
    types = TYPES.get(tool, {})
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
    files = options.get("files")
    for path in files if isinstance(files, list) else ():
        written |= schemas_in(str(path))[0]
    tools = options.get("tools")
    written |= tools if isinstance(tools, dict) else {}
    return {str(name).lower(): entry_from(each) for name, each in written.items() if isinstance(each, dict)}


def entry_from(written: Mapping[str, Any]) -> Entry:
    """Return an entry from the settings: the short form, or a JSON Schema. What is not understood is ignored."""
    if is_schema(written):
        return Entry(schema=written, example=_example_in(written))
    lengths = written.get("min_lengths")
    least = {str(k): v for k, v in lengths.items() if isinstance(v, int)} if isinstance(lengths, dict) else {}
    if isinstance(written.get("content_min_length"), int):
        least["content"] = written["content_min_length"]
    groups = written.get("required_any")
    example = written.get("example")
    return Entry(
        _texts(written.get("required")),
        tuple(_texts(group) for group in groups) if isinstance(groups, list) else (),
        least,
        example if isinstance(example, dict) else {},
    )


def is_schema(written: Mapping[str, Any]) -> bool:
    return not _SCHEMA_KEYS.isdisjoint(written)


def _example_in(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    examples = schema.get("examples")
    first = examples[0] if isinstance(examples, list) and examples else {}
    return first if isinstance(first, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    """Return texts of a list; a single text is accepted like a list of one."""
    value = [value] if isinstance(value, str) else value
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def schemas_in(path: str) -> tuple[dict[str, Any], str]:
    """Return the entries of a file, and why there are none when it cannot be read."""
    path = os.path.expanduser(path)
    try:
        return _read(path, Path(path).stat().st_mtime_ns)
    except OSError as error:
        return {}, f"it cannot be read: {error.strerror}"


@lru_cache(maxsize=16)
def _read(path: str, _changed: int) -> tuple[dict[str, Any], str]:
    try:
        found = json.loads(read_capped(Path(path), LARGEST))
    except (ValueError, OSError, FileError, RecursionError) as error:
        return {}, f"it cannot be read: {error}"
    return (found, "") if isinstance(found, dict) else ({}, "it does not contain a table of tools")
