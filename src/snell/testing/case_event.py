"""
Turn an event as a hook author writes it into one that a client could have sent.

    { on = "PreToolUse", kind = "shell", command = "git push --force" }

`on` is the event in any spelling. A tool call has a `kind` (or a `tool`) and that kind's own fields, or a raw `input`.
Every other key is a field of the payload, by the client's name or by the name in the SDK.
"""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.catalogue import CATALOGUE, COMMON_EVENTS, EventRow, canonical, did_you_mean
from snell.model.errors import SnellError
from snell.model.events import Event
from snell.model.tools import ALL_KINDS, KINDS, kind_of
from snell.settings.value_tree import noun

_TOOL_ADVICE = {"mcp": 'add server = "..." and method = "..."', "other": 'add tool = "..."'}


class CaseError(SnellError):
    """A case is not valid."""

    id = "case"

    def __init__(self, message: str, *, key: str = "", where: str = "", advice: str = "") -> None:
        super().__init__(message, where=where, advice=advice)
        self.key = key  # from which the reader of the file finds the line


def text_of(value: Any, key: str) -> str:
    """Return the value if it is text. Raises CaseError."""
    if not isinstance(value, str):
        raise CaseError(f"`{key}` must be text, not {noun(value)}", key=key, advice="put it in quotes")
    return value


def table_of(value: Any, key: str) -> dict[str, Any]:
    """Return the value if it is a table. Raises CaseError."""
    if not isinstance(value, dict):
        raise CaseError(f"`{key}` must be a table, not {noun(value)}", key=key, advice="write { name = value }")
    return value


class KindFields(Struct, frozen=True):
    tool: str = ""
    inputs: Mapping[str, str] = {}
    needs: tuple[str, ...] = ()
    defaults: Mapping[str, str] = {}


class FieldNames(Struct, frozen=True):
    """The tables of `event_fields.toml`."""

    wrappers: dict[str, str]
    kinds: dict[str, KindFields]
    also_called: dict[str, dict[str, str]]
    payload: dict[str, list[str]]


NAMES = msgspec.toml.decode(Path(__file__).with_name("event_fields.toml").read_bytes(), type=FieldNames)
_PAYLOAD_FIELDS = frozenset(
    {*NAMES.payload["fields"], *(name for names in NAMES.also_called.values() for name in names.values())}
    | {name for row in CATALOGUE.values() for name in (row.matches, row.rewrites)}
) - {""}


class CaseEvent(Struct, frozen=True):
    """One event, without a folder and a session yet."""

    name: str
    payload: dict[str, Any]
    tool: str = ""
    tool_name: str = ""  # the client's own name for the tool, if it is different
    kind: str = ""
    path_field: str = ""  # the field of the input whose relative path is resolved in the project

    def to_event(self, cwd: str, session_id: str, number: int = 1) -> Event:
        """Return the event in a folder and a session."""
        payload = {"session_id": session_id, "hook_event_name": self.name, **self.payload}
        payload["cwd"] = cwd = os.path.join(cwd, str(payload.get("cwd", ""))).rstrip("/") or "/"
        if self.tool:
            payload = {"tool_use_id": f"call-{number}", **payload, "tool_name": self.tool}
        if self.path_field:
            payload["tool_input"] = self.complete_fields(payload["tool_input"], cwd)
        tool_name = self.tool_name or self.tool
        return Event(name=self.name, payload=payload, tool=self.tool, tool_name=tool_name, kind=self.kind)

    def complete_fields(self, fields: dict[str, Any], cwd: str) -> dict[str, Any]:
        """Make the path absolute: clients send absolute paths, so cases must too."""
        path = fields.get(self.path_field)
        return {**fields, self.path_field: os.path.join(cwd, path)} if isinstance(path, str) and path else fields

    def input_fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return fields of the tool's input by the client's names."""
        names = NAMES.kinds[self.kind].inputs if self.kind in NAMES.kinds else {}
        return {names.get(name, name): value for name, value in fields.items()}


def case_event_from(written: Mapping[str, Any]) -> CaseEvent:
    """Return the event that these fields describe. Raises CaseError."""
    fields = {NAMES.wrappers.get(key, key): value for key, value in written.items()}
    if "on" not in fields:
        raise CaseError("the event has no `on`", advice='name the event: on = "PreToolUse"')
    row = event_row(text_of(fields["on"], "on"))
    if row.matches == "tool_name":
        return _tool_call(row, fields)
    for key in ("kind", "tool", "input"):
        if key in fields:
            raise CaseError(f"{row.name} has no tool, so it has no `{key}`", key=key, advice="remove it")
    rest = {key: value for key, value in fields.items() if key != "on"}
    return CaseEvent(row.name, _payload(row, rest, ("on",)))


def event_row(name: str) -> EventRow:
    """Return the event with this name, in any spelling. Raises CaseError."""
    row = CATALOGUE.get(canonical(name))
    if row is None:
        advice = did_you_mean(name, otherwise=COMMON_EVENTS)
        raise CaseError(f"unknown event `{name}`", key="on", advice=advice)
    return row


def checked_kind(kind: str) -> str:
    """Return the kind if it is one. Raises CaseError."""
    if kind not in ALL_KINDS:
        advice = did_you_mean(kind, ALL_KINDS, f"use one of {', '.join(ALL_KINDS)}")
        raise CaseError(f"unknown tool kind `{kind}`", key="kind", advice=advice)
    return kind


def _tool_call(row: EventRow, fields: dict[str, Any]) -> CaseEvent:
    kind, tool, tool_name = _tool(row, fields)
    of_kind = NAMES.kinds.get(kind, KindFields())
    own = {key: text_of(fields[key], key) for key in of_kind.inputs if key in fields}
    known = ("on", "kind", "tool", "input", *(("server", "method") if kind == "mcp" else ()))
    rest = {key: value for key, value in fields.items() if key not in known and key not in own}
    payload = _payload(row, rest, (*known, *of_kind.inputs))
    payload["tool_input"] = _input(kind, of_kind, own, fields)
    return CaseEvent(row.name, payload, tool, tool_name, kind, of_kind.inputs["path"] if "path" in own else "")


def _input(kind: str, of_kind: KindFields, own: dict[str, str], fields: Mapping[str, Any]) -> dict[str, Any]:
    raw = table_of(fields.get("input", {}), "input")
    if "input" in fields and not own:
        return raw
    if "input" not in fields and of_kind.needs and own.keys().isdisjoint(of_kind.needs):
        needed = of_kind.needs[0]
        raise CaseError(f"this {kind} call has no `{needed}`", advice=f'add {needed} = "..."')
    return {of_kind.inputs[key]: value for key, value in {**of_kind.defaults, **own}.items()} | raw


def _tool(row: EventRow, fields: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the kind, Claude Code's name of the tool, and the client's own name if it is different."""
    if "kind" not in fields and "tool" not in fields:
        raise CaseError(f"{row.name} needs a tool", advice='add kind = "shell" or tool = "Bash"')
    named = text_of(fields.get("tool", ""), "tool")
    if "kind" not in fields:
        return kind_of(named, fields.get("input")), named, ""
    kind = checked_kind(text_of(fields["kind"], "kind"))
    is_known = named in KINDS or named.startswith("mcp__")
    if is_known and kind_of(named) != kind:
        raise CaseError(f"`{named}` is of kind {kind_of(named)}, not {kind}", key="kind", advice="keep one of the two")
    usual = _usual_tool(kind, fields)
    if named and not is_known and usual:
        return kind, usual, named
    if not named and not usual:
        raise CaseError(f"a call of kind {kind} needs the tool's name", key="kind", advice=_TOOL_ADVICE[kind])
    return kind, named or usual, ""


def _usual_tool(kind: str, fields: Mapping[str, Any]) -> str:
    if kind == "mcp" and "server" in fields and "method" in fields:
        return f"mcp__{text_of(fields['server'], 'server')}__{text_of(fields['method'], 'method')}"
    if kind == "web" and "query" in fields and "url" not in fields:
        return "WebSearch"
    return NAMES.kinds[kind].tool if kind in NAMES.kinds else ""


def _payload(row: EventRow, fields: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """Return the other fields by the client's names; a near miss of a known name is an error, not a new field."""
    also = NAMES.also_called.get(row.subject, {})
    for key in fields:
        if key in _PAYLOAD_FIELDS or key in also:
            continue
        if near := get_close_matches(key, (*known, *also, "prompt"), n=1, cutoff=0.8):
            raise CaseError(f"unknown field `{key}`", key=key, advice=f"did you mean `{near[0]}`?")
    return {also.get(key, key): value for key, value in fields.items()}
