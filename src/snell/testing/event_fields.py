"""The names of event fields: those in the SDK, and those in the client's payload."""

from collections.abc import Mapping

from msgspec import Struct

from snell.model.catalogue import CATALOGUE


class KindFields(Struct, frozen=True):
    """One kind of tool: its usual tool, its fields and their names in the tool's input."""

    tool: str = ""
    inputs: Mapping[str, str] = {}
    needs: tuple[str, ...] = ()  # one of these is required
    defaults: Mapping[str, str] = {}  # for fields that the tool requires


KIND_FIELDS: Mapping[str, KindFields] = {
    "shell": KindFields("Bash", {"command": "command", "description": "description"}, ("command",)),
    "edit": KindFields(
        "Edit",
        {"path": "file_path", "old": "old_string", "new": "new_string"},
        ("path",),
        {"old": "", "new": ""},
    ),
    "write": KindFields("Write", {"path": "file_path", "content": "content"}, ("path",), {"content": ""}),
    "read": KindFields("Read", {"path": "file_path"}, ("path",)),
    "search": KindFields("Grep", {"pattern": "pattern", "path": "path"}, ("pattern",)),
    "web": KindFields("WebFetch", {"url": "url", "query": "query"}, ("url", "query")),
    "agent": KindFields("Agent", {"prompt": "prompt", "agent_type": "subagent_type"}, ("prompt",)),
    "skill": KindFields("Skill", {"skill": "skill", "args": "args"}, ("skill",)),
}

# The names in a recorded payload, which can be pasted as it is.
WRAPPERS: Mapping[str, str] = {"hook_event_name": "on", "tool_name": "tool", "tool_input": "input"}

# By the subject of the event: the name in the SDK -> the name in the payload, where they are different.
ALSO_CALLED: Mapping[str, Mapping[str, str]] = {
    "tool": {"response": "tool_response"},
    "prompt": {"text": "prompt", "command": "command_name"},
    "turn": {"last_message": "last_assistant_message", "is_continuation": "stop_hook_active"},
    "agent": {
        "id": "agent_id",
        "type": "agent_type",
        "transcript": "agent_transcript_path",
        "last_message": "last_assistant_message",
    },
    "notification": {"type": "notification_type"},
    "compaction": {"instructions": "custom_instructions", "summary": "compact_summary"},
    "task": {"id": "task_id", "subject": "task_subject", "description": "task_description"},
    "file": {"path": "file_path"},
}

# Fields that clients send; they are never taken for misspelt names.
PAYLOAD_FIELDS = frozenset(
    {row.matches for row in CATALOGUE.values()}
    | {row.rewrites for row in CATALOGUE.values()}
    | {name for names in ALSO_CALLED.values() for name in names.values()}
    | {
        "session_id",
        "cwd",
        "transcript_path",
        "permission_mode",
        "tool_use_id",
        "agent_id",
        "error",
        "message",
        "title",
    }
) - {""}
