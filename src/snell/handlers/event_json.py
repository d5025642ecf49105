"""The event as Claude Code would send it, whatever client called."""

from typing import Any

from snell.model.events import Event
from snell.redact import redact_data

# What a client may put into a payload, and what never leaves this machine.
_STAYS_HERE = frozenset({"env", "environment", "environ", "transcript", "messages", "conversation", "history"})
PLACEHOLDER = "[redacted:"


def event_object(event: Event) -> dict[str, Any]:
    """For programs on this machine: everything."""
    payload = {**event.payload, "hook_event_name": event.name}
    if event.tool:
        payload["tool_name"] = event.tool
    if event.command and isinstance(payload.get("tool_input"), dict):
        payload["tool_input"] = event.readable_input
    return payload


def as_bash_call(payload: dict[str, Any]) -> dict[str, Any]:
    """The same under the name that a hook for `Bash` looks for; the tool's own name stands beside it."""
    native = payload.get("native")
    own = {**(native if isinstance(native, dict) else {}), "tool": payload.get("tool_name")}
    return {**payload, "tool_name": "Bash", "native": own}


def event_for_others(event: Event, *, redact: bool = True) -> dict[str, Any]:
    """For servers and models: without environment and conversation, and, unless it is wanted, without secrets."""
    kept = {name: value for name, value in event_object(event).items() if name.lower() not in _STAYS_HERE}
    done: dict[str, Any] = redact_data(kept) if redact else kept
    return done


def holds_placeholder(value: Any) -> bool:
    """Whether something that was redacted comes back, where it would overwrite the true value."""
    if isinstance(value, str):
        return PLACEHOLDER in value
    if isinstance(value, dict):
        return any(holds_placeholder(key) or holds_placeholder(each) for key, each in value.items())
    return isinstance(value, list | tuple) and any(map(holds_placeholder, value))
