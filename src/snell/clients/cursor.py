"""Adjust what Cursor sends and gets, where its table cannot express it."""

from snell.clients.protocol.table import ClientTable
from snell.model.errors import PayloadError
from snell.model.events import Payload
from snell.system.json_input import read_object

# Events about one kind of tool: the tool, and the fields of its input.
_TOOLS = {
    "beforeShellExecution": ("Shell", ("command",)),
    "afterShellExecution": ("Shell", ("command",)),
    "beforeReadFile": ("Read", ("file_path",)),
    "afterFileEdit": ("Write", ("file_path", "edits")),
}


def adjust(_table: ClientTable, event: str, payload: Payload) -> Payload:
    """Put tool name and input together: the events about one kind of tool have them at the top level."""
    if event in _TOOLS:
        tool, keys = _TOOLS[event]
        given = {key: payload.pop(key) for key in keys if key in payload}
        payload |= {"tool_name": tool, "tool_input": given}
    elif event in ("beforeMCPExecution", "afterMCPExecution") and isinstance(payload.get("tool_name"), str):
        payload["tool_name"] = f"MCP:{payload['tool_name']}"
    if isinstance(output := payload.get("tool_response"), str) and output.startswith("{"):
        payload["tool_response"] = _json(output)
    if event == "sessionStart":
        payload.setdefault("source", "startup")
    if isinstance(loops := payload.get("loop_count"), int):
        payload["stop_hook_active"] = loops > 0
    return payload


def _json(text: str) -> Payload | str:
    try:
        return read_object(text.encode("utf-8", "replace"))
    except PayloadError:
        return text
