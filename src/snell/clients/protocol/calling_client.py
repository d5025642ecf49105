"""
Find out which client sent a payload.

Some clients run the hooks in another client's file and send payloads in their own form: a payload that comes with
`--client claude_code` may be Cursor's. The environment alone proves nothing, because an agent that is started from
another agent's terminal inherits it. So the payload has to look like another client's first.
"""

from collections.abc import Mapping

import msgspec

from snell.model.events import Payload


def calling_client(claimed: str, payload: Payload, env: Mapping[str, str]) -> str:
    """Return the client that sent this payload, else the one that the command line names."""
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
    Return the client that ran `snell-hook` without arguments; empty if the payload does not show it.

    Copilot CLI does that with Claude's files: it takes the `command` of an entry and ignores its `args`.
    """
    try:
        found = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    caller = calling_client("claude_code", found, env) if isinstance(found, dict) else ""
    return caller if caller in _LEAVE_ARGUMENTS_OUT else ""


def _is_local(payload: Payload) -> bool:
    """Return whether this is VS Code, which names its transcript on every event; Copilot CLI only at turn ends."""
    return "transcript_path" in payload and str(payload.get("hook_event_name")) not in _TURN_ENDS


# Clients whose files other clients read: Claude's by Copilot CLI, VS Code, Cursor and Grok, Copilot's by VS Code,
# Cursor's by Grok.
_READ_BY_OTHERS = frozenset({"claude_code", "copilot", "cursor"})
# The clients that are known to do so. VS Code is left out: its payload looks too much like other clients'.
_LEAVE_ARGUMENTS_OUT = frozenset({"copilot", "cursor", "grok"})
_TURN_ENDS = frozenset({"Stop", "SubagentStop", "PreCompact"})
# A payload with none of these fields is from the client that the command line names.
FIELDS_OF_OTHERS = frozenset({"cursor_version", "hookEventName", "timestamp"})
