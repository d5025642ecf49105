"""Cline 3.0.65, CLI and new extension: one executable file for each event; it only waits for those around a tool."""

from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.reply_forms import flat
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.events import Payload
from snell.model.installs import HookForm, Install
from snell.model.protocols import Capabilities, Quirk

NAME = "cline"
TITLE = "Cline"
CAPABILITIES = Capabilities(native=False, ask=False, stop=False, prompt_block=False)
QUIRKS = (
    Quirk("exit codes are ignored; only JSON refuses", "seen in 3.0.65"),
    Quirk("a refusal ends the whole run", "seen in 3.0.65"),
    Quirk("a refusal after a tool would end the run, so it is sent as context", "seen in 3.0.65"),
    Quirk("it waits only for hooks before and after a tool", "seen in 3.0.65"),
    Quirk("prompts are not reported by the CLI", "seen in 3.0.65"),
    Quirk("`review` is ignored and the tool runs, so an ask is a refusal", "seen in 3.0.65"),
)


def _adjust(_event: str, payload: Payload) -> Payload:
    """Rename the main agent's id: in Snell only a subagent has an `agent_id`."""
    if not payload.get("parent_agent_id") and "agent_id" in payload:
        payload["main_agent_id"] = payload.pop("agent_id")
    return payload


def _refine(name: str, payload: Payload) -> str:
    return "PostToolUseFailure" if name == "PostToolUse" and payload.get("success") is False else name


_CONTEXT = flat(context=Slot.NOTE)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    event_fields=("hookName",),
    events={
        "agent_start": "SessionStart",
        "TaskStart": "SessionStart",
        "TaskResume": "SessionStart",
        "tool_call": "PreToolUse",
        "tool_result": "PostToolUse",
        "agent_end": "Stop",
        "TaskComplete": "Stop",
        "agent_error": "StopFailure",
        "TaskError": "StopFailure",
        "TaskCancel": "SessionEnd",
        "SessionShutdown": "SessionEnd",
        "session_shutdown": "SessionEnd",
    },
    fields={
        "session_id": ("sessionContext.rootSessionId", "taskId"),
        "cwd": ("workspaceInfo.rootPath", "workspaceRoots.0"),
        "tool_name": ("tool_call.name", "tool_result.name", "preToolUse.toolName", "postToolUse.toolName"),
        "tool_input": ("tool_call.input", "tool_result.input", "preToolUse.parameters", "postToolUse.parameters"),
        "tool_use_id": ("tool_call.id", "tool_result.id"),
        "tool_response": ("tool_result.output", "postToolUse.result"),
        "success": ("postToolUse.success",),
        "duration_ms": ("tool_result.durationMs", "postToolUse.executionTimeMs"),
        "prompt": ("userPromptSubmit.prompt",),
        "last_assistant_message": ("turn.outputText",),
        "client_version": ("clineVersion",),
    },
    drops=frozenset({"tool_call", "tool_result", "preToolUse", "postToolUse", "userPromptSubmit"}),
    adjust=_adjust,
    refine=_refine,
    tools={
        "run_commands": Tool("Bash", lists={"commands": "command"}),
        "execute_command": Tool("Bash"),
        "read_files": Tool("Read", lists={"files": "file_path"}),
        "editor": Tool(
            "Edit",
            {"path": "file_path", "old_text": "old_string", "new_text": "new_string"},
            creates=Tool("Write", {"path": "file_path", "new_text": "content"}),
        ),
        "write_to_file": Tool("Write", {"path": "file_path"}),
        "replace_in_file": Tool("Edit", {"path": "file_path", "diff": "new_string"}),
        "read_file": Tool("Read", {"path": "file_path"}),
        "apply_patch": Tool("Edit", {"input": "new_string"}, is_patch=True),
        "search_files": Tool("Grep", {"regex": "pattern", "file_pattern": "glob"}),
        "list_files": Tool("LS"),
        "search_codebase": Tool("Grep"),
        "fetch_web_content": Tool("WebFetch"),
        "spawn_agent": Tool("Agent", {"task": "prompt"}),
    },
    answers={
        "PreToolUse": Answers(
            deny=flat(cancel=True, errorMessage=Slot.REASON),
            rewrite=flat(overrideInput=Slot.INPUT),
            note=_CONTEXT,
        ),
        "PostToolUse": Answers(note=_CONTEXT),
        "PostToolUseFailure": Answers(note=_CONTEXT),
        "UserPromptSubmit": Answers(deny=flat(cancel=True, errorMessage=Slot.REASON), note=_CONTEXT),
        "SessionStart": Answers(),
        "SessionEnd": Answers(),
        "Stop": Answers(),
        "StopFailure": Answers(),
        "PreCompact": Answers(),
        "Notification": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("cline",),
    base="~/.cline",
    folders=("{base}", "~/Documents/Cline"),
    form=HookForm(name="scripts", layout="scripts"),
    format="own file",
    hooks={"user": "{base}/hooks", "project": ".clinerules/hooks"},
    events=("TaskStart", "TaskResume", "UserPromptSubmit", "PreToolUse", "PostToolUse", "TaskComplete", "TaskCancel"),
    refusal='{"cancel":true,"errorMessage":"snell-hook is not installed, and nothing may run unchecked"}',
    session_start=("TaskStart", "TaskResume"),
    mcp={"user": "{base}/data/settings/cline_mcp_settings.json"},
    rules={"project": "AGENTS.md"},
    after=("start a new task",),
    remarks=("a refused call ends the whole run in Cline",),
)
