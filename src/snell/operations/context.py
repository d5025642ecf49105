"""How full a session's context is: reported by the status line, read by hooks that warn or restart."""

from collections.abc import Mapping
from typing import Any

from snell.operations import Arguments, Call
from snell.operations.rpc import CallError
from snell.runtime.app import Runtime

MARK = "context_usage"
FIELDS = ("used_percent", "tokens", "window")


def usage(runtime: Runtime, arguments: Arguments, _env: Mapping[str, str]) -> dict[str, Any]:
    """Store the given values, if any, and return the stored ones."""
    session = arguments.get("session_id")
    if not isinstance(session, str) or not session:
        issue = "session_id: must be text"
        raise CallError("VALIDATION_ERROR", f"the call is not valid: {issue}", {"issues": [issue]})
    given = {name: arguments[name] for name in FIELDS if _is_number(arguments.get(name))}
    scope = f"session:{session}"
    if given:
        runtime.store.put(scope, MARK, given)
    return {"session_id": session, **(runtime.store.get(scope, MARK) or {})}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


COMMANDS: Mapping[str, Call] = {"context.usage": usage}
