"""Decode a client's payload by its table into Claude Code's form. Fields that the table does not name are kept."""

from collections.abc import Iterable
from typing import Any

from snell.clients.protocol.table import ClientTable, Refinement
from snell.clients.protocol.tool_inputs import claude_input, claude_tool
from snell.model.catalogue import canonical
from snell.model.errors import PayloadError
from snell.model.events import Event, Payload, text_in
from snell.model.tools import kind_of
from snell.system.json_input import check_tool_name, odd_fields, read_payload

EVENT_FIELDS = ("hook_event_name", "hookEventName")  # read for every client, after its own fields


def decode_payload(table: ClientTable, payload: bytes, event: str = "") -> Event:
    """Return the event that a payload reports; `event` is its name if the payload has none."""
    given, flags = read_payload(payload)
    native = _event_name(table, given) or event or _event_by_fields(table, given)
    if not native:
        advice = "give its name as `hook_event_name`, or with `--event` on the command line"
        raise PayloadError("the payload names no event", advice=advice)
    shaped = _rename_fields(table, given)
    if table.adjust:
        shaped = table.adjust(table, native, shaped)
    name = refine_event(table, table.events.get(native) or canonical(native), shaped)
    shaped["hook_event_name"] = name
    check_tool_name(shaped)
    tool, tool_name, ignored = _rename_tool(table, shaped)
    if own := _own_names(native=native, name=name, tool=tool, tool_name=tool_name):
        shaped["native"] = own
    odd = odd_fields(shaped)
    return Event(
        name=name,
        payload=shaped,
        client=table.name,
        tool=tool,
        tool_name=tool_name,
        kind=kind_of(tool, shaped.get("tool_input")),
        flags=(*flags, *ignored, *odd),
        takes_notes=_takes_notes(table, native, name),
    )


def value_at(value: Any, path: str) -> Any:
    """Return the value at a path such as `workspace_roots.0`; None if there is none."""
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def refine_event(table: ClientTable, name: str, payload: Payload) -> str:
    """Return the event that this one is by the fields of its payload."""
    for row in table.refine:
        if row.event == name and _applies(row, payload):
            return row.becomes
    return name


def _applies(row: Refinement, payload: Payload) -> bool:
    if not row.field:
        return True
    found = value_at(payload, row.field)
    return bool(found) if row.equals is None else type(found) is type(row.equals) and found == row.equals


def texts_in(parts: list[Any]) -> list[str]:
    """Return the texts in a list of content parts."""
    return [part if isinstance(part, str) else text_in(part, "text") for part in parts if isinstance(part, str | dict)]


def _event_name(table: ClientTable, given: Payload) -> str:
    names = (text_in(given, field) for field in (*table.event_fields, *EVENT_FIELDS))
    return next((name for name in names if name), "")


def _event_by_fields(table: ClientTable, given: Payload) -> str:
    return next((name for name, fields in table.nameless.items() if fields <= given.keys()), "")


def _rename_fields(table: ClientTable, given: Payload) -> Payload:
    renamed = (path for paths in table.fields.values() for path in paths if "." not in path)
    consumed = table.drops.union(renamed, table.event_fields, EVENT_FIELDS)
    shaped: Payload = {"hook_event_name": ""}
    for field, paths in table.fields.items():
        found = _first(given, (*paths, field))
        if found is not None:
            shaped[field] = found
    shaped |= {key: value for key, value in given.items() if key not in consumed and key not in shaped}
    for field, words in table.values.items():
        if isinstance(word := shaped.get(field), str):
            shaped[field] = words.get(word, word)
    if isinstance(shaped.get("prompt"), list):
        shaped["prompt"] = "\n".join(texts_in(shaped["prompt"]))
    if isinstance(text := shaped.get("tool_input"), str) and text.lstrip().startswith("{"):
        shaped["tool_input"] = read_payload(text.encode("utf-8", "replace"))[0]
    return shaped


def _first(given: Payload, paths: Iterable[str]) -> Any:
    return next((value for path in paths if (value := value_at(given, path)) is not None), None)


def _rename_tool(table: ClientTable, shaped: Payload) -> tuple[str, str, tuple[str, ...]]:
    """Put Claude's tool name and input into the payload; return both tool names, and notes on ignored keys."""
    tool_name = text_in(shaped, "tool_name")
    if not tool_name:
        return "", "", ()
    given = shaped.get("tool_input")
    tool = claude_tool(table, tool_name, given)
    shaped["tool_name"] = tool
    if not isinstance(given, dict):
        return tool, tool_name, ()
    shaped["tool_input"], ignored = claude_input(table, tool_name, given)
    return tool, tool_name, ignored


def _takes_notes(table: ClientTable, native: str, name: str) -> bool:
    """Return False if the client takes no note at this event, but at another one: then the note can wait."""
    answers = table.answers.get(native) or table.answers.get(name)
    return bool(answers and answers.note) or not any(each.note for each in table.answers.values())


def _own_names(*, native: str, name: str, tool: str, tool_name: str) -> dict[str, str]:
    """Return the client's own names where they differ from Snell's."""
    pairs = (("event", native, name), ("tool", tool_name, tool))
    return {key: theirs for key, theirs, ours in pairs if theirs != ours}
