"""
Who is really calling. Some clients run hooks that were put into another client's file, and each speaks its own way:
a payload that comes with `--client claude_code` may be Cursor's.

The environment alone proves nothing, because an agent that is started from another one's terminal inherits it. So the
payload must look foreign first.
"""

from collections.abc import Mapping

import msgspec

from snell.model.events import Payload


def calling_client(claimed: str, payload: Payload, env: Mapping[str, str]) -> str:
    """The client that sent this payload, as far as it shows; else the one that the command line names."""
    if claimed not in _READ_BY_OTHERS:
        return claimed
    if "cursor_version" in payload:
        return "cursor"
    if "hookEventName" in payload and "workspaceRoot" in payload:
        return "grok"
    if "timestamp" not in payload or "permission_mode" in payload:
        return claimed
    is_copilot = "COPILOT_CLI" in env or isinstance(payload["timestamp"], int)
    return "copilot" if is_copilot else "vscode_copilot" if "tool_use_id" in payload or _is_local(payload) else claimed


def bare_caller(payload: bytes, env: Mapping[str, str]) -> str:
    """
    Who runs our command without its arguments; empty when nothing shows it.

    Copilot CLI does that with Claude's files: it takes the `command` of an entry and leaves its `args` out.
    """
    try:
        found = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    caller = calling_client("claude_code", found, env) if isinstance(found, dict) else ""
    return caller if caller in _LEAVE_ARGUMENTS_OUT else ""


def _is_local(payload: Payload) -> bool:
    """VS Code says its transcript on every event; Copilot CLI only where a turn ends."""
    return "transcript_path" in payload and str(payload.get("hook_event_name")) not in _TURN_ENDS


# Clients whose files other clients read: Claude's by Copilot CLI, VS Code, Cursor and Grok, Copilot's by VS Code,
# Cursor's by Grok.
_READ_BY_OTHERS = frozenset({"claude_code", "copilot", "cursor"})
# The others among these are not known to; VS Code's payload is too much like anybody's.
_LEAVE_ARGUMENTS_OUT = frozenset({"copilot", "cursor", "grok"})
_TURN_ENDS = frozenset({"Stop", "SubagentStop", "PreCompact"})
