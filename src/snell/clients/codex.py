"""Adjust what Codex CLI sends and gets, where its table cannot express it."""

from snell.clients.protocol.table import ClientTable
from snell.model.events import Payload


def adjust(_table: ClientTable, _event: str, payload: Payload) -> Payload:
    """Rename the key `input` of a patch to `command`, unless both are given: then hooks see both."""
    given = payload.get("tool_input")
    if payload.get("tool_name") == "apply_patch" and isinstance(given, dict) and "command" not in given:
        payload["tool_input"] = {"command" if key == "input" else key: value for key, value in given.items()}
    return payload
