"""Forms of replies and of hook files that several clients take; `clients/<name>.toml` names them."""

from collections.abc import Mapping
from typing import Any

from snell.clients.protocol.table import Slot
from snell.model.installs import Placeholder

Json = Mapping[str, Any]


def specific(fields: Json) -> Json:
    """Return fields inside `hookSpecificOutput`, under the client's own name of the event."""
    return {"hookSpecificOutput": {"hookEventName": Slot.EVENT, **fields}}


def _permission(decision: str) -> Json:
    return specific({"permissionDecision": decision, "permissionDecisionReason": Slot.REASON})


# Claude Code's answers at most events, and at those where they differ.
USUAL_ANSWERS: Mapping[str, Json] = {
    "deny": {"decision": "block", "reason": Slot.REASON},
    "note": specific({"additionalContext": Slot.NOTE}),
    "stop": {"continue": False, "stopReason": Slot.STOP},
    "tell": {"systemMessage": Slot.TELL},
}
CLAUDE_ANSWERS: Mapping[str, Mapping[str, Json]] = {
    "PreToolUse": {
        "deny": _permission("deny"),
        "ask": _permission("ask"),
        "allow": _permission("allow"),
        "rewrite": specific({"updatedInput": Slot.INPUT}),
    },
    "PermissionRequest": {
        "deny": specific({"decision": {"behavior": "deny", "message": Slot.REASON}}),
        "allow": specific({"decision": {"behavior": "allow"}}),
    },
}
# Answers that are not JSON.
NAMED_FORMS: Mapping[str, dict[str, Any]] = {
    "exit_2": {"stderr": Slot.REASON, "exit_code": 2},
    "text": {"text": Slot.NOTE},
}

_SHELL: Json = {"type": "command", "command": Placeholder.COMMAND, "timeout": Placeholder.SECONDS}
TEMPLATES: Mapping[str, Json] = {
    "shell": _SHELL,
    # As Claude Code nests it: a matcher, and the list of hooks that it applies to.
    "group": {"matcher": Placeholder.MATCHER, "hooks": [_SHELL]},
    "stdio": {"type": "stdio", "command": Placeholder.PROGRAM, "args": Placeholder.ARGUMENTS},
}
HOOK_FORMS: Mapping[str, dict[str, Any]] = {
    "groups": {"name": "groups", "layout": "lists", "entry": TEMPLATES["group"]},
    # Copilot CLI and VS Code read the same files, so the commands in them name one client.
    "copilot_file": {
        "name": "copilot",
        "layout": "files",
        "entry": _SHELL,
        "files": {"": {"version": 1, "hooks": Placeholder.HOOKS}},
        "called_as": "copilot",
    },
    "plugin": {"name": "bridge", "layout": "plugin"},
}
