"""Windsurf, now Devin Desktop (Cascade): it reads only exit code 2 before an action, which blocks the action."""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.table import Answers, ClientTable, Tool
from snell.model.events import Payload
from snell.model.installs import HookForm, Install, Placeholder
from snell.model.protocols import Capabilities, Quirk

NAME = "windsurf"
TITLE = "Windsurf"
CAPABILITIES = Capabilities(native=False, ask=False, rewrite=False, note=False, stop=False)
QUIRKS = (
    Quirk("it reads only exit code 2 before an action; no JSON, no context", "its documentation"),
    Quirk("the event says which kind of tool it is; there are no tool names", "its documentation"),
    Quirk(
        "the end of a turn is reported again with the transcript if that event is registered, too", "its documentation"
    ),
    Quirk("a session's start and end are not reported", "its documentation"),
)


def _adjust(event: str, payload: Payload) -> Payload:
    kind = event.partition("_")[2]
    info = payload.pop("tool_info", None)
    if not isinstance(info, dict) or event.partition("_")[0] not in ("pre", "post"):
        return payload if info is None else {**payload, "tool_info": info}
    if kind == "mcp_tool_use":
        payload["tool_name"] = f"mcp__{info.get('mcp_server_name')}__{info.get('mcp_tool_name')}"
        payload["tool_input"] = info.get("mcp_tool_arguments")
    elif kind in TABLE.tools:
        payload |= {"tool_name": kind, "tool_input": _with_edit(info)}
    else:
        payload["tool_info"] = info
    return payload


def _with_edit(info: Payload) -> Payload:
    """Return the input with the keys of its only edit, as in Claude Code; several edits stay a list."""
    edits = info.get("edits")
    return {**info, **edits[0]} if isinstance(edits, list) and len(edits) == 1 and isinstance(edits[0], dict) else info


_BEFORE = Answers(deny=reply_forms.EXIT_2)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    event_fields=("agent_action_name",),
    events={
        "pre_user_prompt": "UserPromptSubmit",
        "pre_run_command": "PreToolUse",
        "pre_read_code": "PreToolUse",
        "pre_write_code": "PreToolUse",
        "pre_mcp_tool_use": "PreToolUse",
        "post_run_command": "PostToolUse",
        "post_read_code": "PostToolUse",
        "post_write_code": "PostToolUse",
        "post_mcp_tool_use": "PostToolUse",
        "post_cascade_response": "Stop",
        "post_cascade_response_with_transcript": "Stop",
    },
    fields={
        "session_id": ("trajectory_id",),
        "cwd": ("tool_info.cwd",),
        "prompt": ("tool_info.user_prompt",),
        "tool_response": ("tool_info.mcp_result",),
        "tool_use_id": ("execution_id",),
        "last_assistant_message": ("tool_info.response",),
        "transcript_path": ("tool_info.transcript_path",),
        "model": ("model_name",),
    },
    adjust=_adjust,
    tools={
        "run_command": Tool("Bash", {"command_line": "command"}),
        "read_code": Tool("Read"),
        "write_code": Tool("Edit"),
    },
    answers={
        "PreToolUse": _BEFORE,
        "UserPromptSubmit": _BEFORE,
        "PostToolUse": Answers(),
        "Stop": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

INSTALL = Install(
    name=NAME,
    title="Windsurf (Devin Desktop)",
    programs=("windsurf", "devin-desktop"),
    base="~/.codeium/windsurf",
    folders=("{base}",),
    form=HookForm(name="windsurf", layout="lists", entry={"command": Placeholder.COMMAND, "show_output": False}),
    hooks={"user": "{base}/hooks.json", "project": ".windsurf/hooks.json"},
    events=(
        "pre_user_prompt",
        "pre_read_code",
        "pre_write_code",
        "pre_run_command",
        "pre_mcp_tool_use",
        "post_read_code",
        "post_write_code",
        "post_run_command",
        "post_mcp_tool_use",
        "post_cascade_response",
    ),
    session_start=(),
    mcp={"user": "{base}/mcp_config.json"},
    rules={"project": "AGENTS.md"},
    after=("restart Windsurf",),
    remarks=("Devin Local and the Devin CLI are other programs with their own hooks; this does not set them up",),
)
