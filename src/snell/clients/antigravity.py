"""Adjust what Antigravity sends and gets, where its table cannot express it."""

from snell.clients.protocol.table import ClientTable
from snell.model.events import Payload


def adjust(_table: ClientTable, event: str, payload: Payload) -> Payload:
    """Give a call an id, and a stop and a start the fields that they lack."""
    step, runs = payload.pop("stepIdx", None), payload.get("executionNum")
    if isinstance(step, int):
        payload["tool_use_id"] = f"step-{step}"
    if event == "Stop" and isinstance(runs, int):
        payload["stop_hook_active"] = runs > 0
    if event == "SessionStart":
        payload.setdefault("source", "startup")
    return payload
