"""The arguments of each event in RPC calls (camelCase on the wire): which are required, and their types."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct, defstruct

_TEXT = str | None
_TOOL = {"tool_name": str, "tool_input": dict[str, Any]}
_CALL = {**_TOOL, "tool_use_id": str}
_STOP = {"stop_hook_active": bool, "last_assistant_message": _TEXT}

# An event -> its required and its optional arguments, besides those of every event.
_ARGUMENTS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "SessionStart": ({}, {"source": str, "model": _TEXT, "agent_type": _TEXT}),
    "SessionEnd": ({}, {"reason": str}),
    "PreCompact": ({}, {"trigger": str, "custom_instructions": _TEXT}),
    "PreToolUse": (_CALL, {"agent_id": str}),
    "PostToolUse": (_CALL, {"agent_id": str}),
    "PostToolUseFailure": (_CALL, {"agent_id": str, "error": str, "is_interrupt": bool}),
    "Stop": ({}, _STOP),
    "UserPromptSubmit": ({"prompt": str}, {}),
    "Notification": ({"notification_type": str}, {"message": str, "title": _TEXT}),
    "PermissionRequest": (_TOOL, {}),
    "TeammateIdle": ({"teammate_name": str}, {"team_name": str}),
    "TaskCompleted": (
        {"task_id": str, "task_subject": str},
        {"task_description": _TEXT, "teammate_name": _TEXT, "team_name": _TEXT},
    ),
    "SubagentStart": ({"agent_id": str}, {"agent_type": str}),
    "SubagentStop": ({"agent_id": str}, {"agent_type": str, "agent_transcript_path": _TEXT, **_STOP}),
    "ConfigChange": ({}, {"source": str, "file_path": _TEXT}),
}


@cache
def arguments_of(event: str) -> type[Struct]:
    """Return the type that checks the arguments of an event."""
    required, optional = _ARGUMENTS[event]
    fields: list[Any] = [*required.items(), *((name, type_, None) for name, type_ in optional.items())]
    return defstruct(event, fields, kw_only=True, rename="camel")
