"""Adjust what Windsurf sends and gets, where its table cannot express it."""

from snell.clients.protocol.table import ClientTable
from snell.model.events import Payload


def adjust(table: ClientTable, event: str, payload: Payload) -> Payload:
    """Make a tool call from `tool_info`: the event says which kind of tool it is."""
    when, _, kind = event.partition("_")
    info = payload.pop("tool_info", None)
    if not isinstance(info, dict) or when not in ("pre", "post"):
        return payload if info is None else {**payload, "tool_info": info}
    if kind == "mcp_tool_use":
        payload["tool_name"] = f"mcp__{info.get('mcp_server_name')}__{info.get('mcp_tool_name')}"
        payload["tool_input"] = info.get("mcp_tool_arguments")
    elif kind in table.tools:
        payload |= {"tool_name": kind, "tool_input": _with_edit(info)}
    else:
        payload["tool_info"] = info
    return payload


def _with_edit(info: Payload) -> Payload:
    """Return the input with the keys of its only edit, as in Claude Code; several edits stay a list."""
    edits = info.get("edits")
    return {**info, **edits[0]} if isinstance(edits, list) and len(edits) == 1 and isinstance(edits[0], dict) else info
