"""Adjust what Cline sends and gets, where its table cannot express it."""

from snell.clients.protocol.table import ClientTable
from snell.model.command_words import value_of_json
from snell.model.events import Payload


def adjust(_table: ClientTable, _event: str, payload: Payload) -> Payload:
    """Rename the main agent's id, as only a subagent has an `agent_id` in Snell; name the MCP tool that is called."""
    given = payload.get("tool_input")
    if payload.get("tool_name") == "use_mcp_tool" and isinstance(given, dict):
        inner = given.get("arguments")
        inner = value_of_json(inner) if isinstance(inner, str) else inner
        payload["tool_name"] = f"mcp__{given.get('server_name')}__{given.get('tool_name')}"
        payload["tool_input"] = inner if isinstance(inner, dict) else {"arguments": given.get("arguments")}
    if not payload.get("parent_agent_id") and "agent_id" in payload:
        payload["main_agent_id"] = payload.pop("agent_id")
    return payload
