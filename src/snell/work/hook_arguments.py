"""Arguments of each event for the work layer, with the names of the RPC calls (camelCase on the wire)."""

from typing import Any

from msgspec import Struct


class HookCall(Struct, frozen=True, kw_only=True, rename="camel"):
    """Arguments of every event. `session_id` is the client's id of its window, not the id of a session row."""

    session_id: str
    transcript_path: str
    cwd: str
    hook_event_name: str
    permission_mode: str | None = None


class SessionStart(HookCall, frozen=True, kw_only=True):
    source: str = "startup"
    model: str | None = None
    agent_type: str | None = None


class SessionEnd(HookCall, frozen=True, kw_only=True):
    reason: str = ""


class PreCompact(HookCall, frozen=True, kw_only=True):
    trigger: str = ""
    custom_instructions: str | None = None


class PreToolUse(HookCall, frozen=True, kw_only=True):
    tool_name: str
    tool_input: dict[str, Any]
    tool_use_id: str
    agent_id: str = ""  # of the calling sub-agent; empty for the session itself


class PostToolUse(PreToolUse, frozen=True, kw_only=True):
    tool_response: Any = None


class PostToolUseFailure(PreToolUse, frozen=True, kw_only=True):
    error: str = ""
    is_interrupt: bool = False


class Stop(HookCall, frozen=True, kw_only=True):
    stop_hook_active: bool = False
    last_assistant_message: str | None = None


class UserPrompt(HookCall, frozen=True, kw_only=True):
    prompt: str


class Notification(HookCall, frozen=True, kw_only=True):
    message: str = ""
    notification_type: str
    title: str | None = None


class PermissionRequest(HookCall, frozen=True, kw_only=True):
    tool_name: str
    tool_input: dict[str, Any]
    permission_suggestions: Any = None


class TeammateIdle(HookCall, frozen=True, kw_only=True):
    teammate_name: str
    team_name: str = ""


class TaskCompleted(HookCall, frozen=True, kw_only=True):
    task_id: str
    task_subject: str
    task_description: str | None = None
    teammate_name: str | None = None
    team_name: str | None = None


class SubagentStart(HookCall, frozen=True, kw_only=True):
    agent_id: str
    agent_type: str = ""


class SubagentStop(HookCall, frozen=True, kw_only=True):
    agent_id: str
    agent_type: str = ""
    stop_hook_active: bool = False
    agent_transcript_path: str | None = None
    last_assistant_message: str | None = None


class ConfigChange(HookCall, frozen=True, kw_only=True):
    source: str = ""
    file_path: str | None = None


class Limits(Struct, frozen=True, kw_only=True):
    """Limits for notes and refusals; 0 = never. Context sizes are fractions."""

    heartbeat: int = 10
    heartbeat_warning: int = 3
    notice: float = 0.80
    warn: float = 0.90
    block: float = 0.0
    read_throttle: float = 0.90
    keeps_dialogue: bool = True


class Caller(Struct, frozen=True, kw_only=True):
    """The calling agent, from its environment, and its limits."""

    agent_id: str = ""
    parent: str = ""
    manages: str = ""
    claims: str = ""
    targeted_claims: str = ""
    pane: str = ""
    usage: float | None = None  # fraction of the context in use, if the client reports it
    limits: Limits = Limits()
