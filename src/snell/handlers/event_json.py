"""Write the event as JSON data in the form that Claude Code sends, whatever client called."""

from typing import Any

from snell.model.events import Event, as_table
from snell.redact import redact_data

# Fields of a payload that are never sent to another machine.
_NEVER_SENT = frozenset({"env", "environment", "environ", "transcript", "messages", "conversation", "history"})
PLACEHOLDER = "[redacted:"


def event_object(event: Event) -> dict[str, Any]:
    """Return the complete event, for programs on this machine."""
    payload = {**event.payload, "hook_event_name": event.name}
    if event.tool:
        payload["tool_name"] = event.tool
    if event.command and isinstance(payload.get("tool_input"), dict):
        payload["tool_input"] = event.readable_input
    return payload


def as_bash_call(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload with `Bash` as the name of the tool; its own name goes to `native.tool`."""
    own = {**as_table(payload.get("native")), "tool": payload.get("tool_name")}
    return {**payload, "tool_name": "Bash", "native": own}


def event_for_others(event: Event, *, redact: bool = True) -> dict[str, Any]:
    """Return the event for servers and models: without environment, conversation and (by default) secrets."""
    kept = {name: value for name, value in event_object(event).items() if name.lower() not in _NEVER_SENT}
    done: dict[str, Any] = redact_data(kept) if redact else kept
    return done


def holds_placeholder(value: Any) -> bool:
    """Whether a value contains the placeholder of a redacted secret, which must not replace the true value."""
    if isinstance(value, str):
        return PLACEHOLDER in value
    if isinstance(value, dict):
        return any(holds_placeholder(key) or holds_placeholder(each) for key, each in value.items())
    return isinstance(value, list | tuple) and any(map(holds_placeholder, value))
