"""What the table of Cline cannot express."""

from snell.clients.protocol.table import ClientTable
from snell.model.events import Payload


def adjust(_table: ClientTable, _event: str, payload: Payload) -> Payload:
    """Rename the main agent's id: in Snell only a subagent has an `agent_id`."""
    if not payload.get("parent_agent_id") and "agent_id" in payload:
        payload["main_agent_id"] = payload.pop("agent_id")
    return payload
