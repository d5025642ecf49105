"""The arguments of each event in RPC calls (camelCase on the wire): which are required, and their types."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct, defstruct

_TYPES: Mapping[str, Any] = {"tool_input": dict[str, Any], "stop_hook_active": bool, "is_interrupt": bool}  # else text
# Besides those of every event; one with `?` may be left out, one with `?null` may be null, too.
_ARGUMENTS = {
    "SessionStart": "source? model?null agent_type?null",
    "SessionEnd": "reason?",
    "PreCompact": "trigger? custom_instructions?null",
    "PreToolUse": "tool_name tool_input tool_use_id agent_id?",
    "PostToolUse": "tool_name tool_input tool_use_id agent_id?",
    "PostToolUseFailure": "tool_name tool_input tool_use_id agent_id? error? is_interrupt?",
    "Stop": "stop_hook_active? last_assistant_message?null",
    "UserPromptSubmit": "prompt",
    "Notification": "notification_type message? title?null",
    "PermissionRequest": "tool_name tool_input",
    "TeammateIdle": "teammate_name team_name?",
    "TaskCompleted": "task_id task_subject task_description?null teammate_name?null team_name?null",
    "SubagentStart": "agent_id agent_type?",
    "SubagentStop": "agent_id agent_type? agent_transcript_path?null stop_hook_active? last_assistant_message?null",
    "ConfigChange": "source? file_path?null",
}


@cache
def arguments_of(event: str) -> type[Struct]:
    """Return the type that checks the arguments of an event."""
    fields: list[Any] = []
    for name, optional, null in (word.partition("?") for word in _ARGUMENTS[event].split()):
        type_ = _TYPES.get(name, str)
        fields.append((name, type_ | None if null else type_, *((None,) if optional else ())))
    return defstruct(event, fields, kw_only=True, rename="camel")
