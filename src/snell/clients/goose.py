"""Adjust what Goose sends and gets, where its table cannot express it."""

from snell.clients.protocol.table import ClientTable
from snell.model.events import Payload


def adjust(_table: ClientTable, event: str, payload: Payload) -> Payload:
    """Move the error of a failed tool, which is reported as its output."""
    if event == "PostToolUseFailure":
        payload["error"] = payload.pop("tool_response", "")
    return payload
