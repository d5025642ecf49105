"""
Cursor, IDE and CLI: its own event names, flat answers.

Cursor can report a call twice, by `preToolUse` and by a specific event such as `beforeShellExecution`. Set-up registers
only the former; both are decoded.
"""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.reply_forms import flat
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.errors import PayloadError
from snell.model.events import Payload
from snell.model.installs import HookForm, Install, Placeholder
from snell.model.protocols import Capabilities, Quirk
from snell.system.json_input import read_payload

NAME = "cursor"
TITLE = "Cursor"
CAPABILITIES = Capabilities(native=False, ask=False)
QUIRKS = (
    Quirk("an ask before a tool is not enforced", "read in its hook module, SDK 1.0.32"),
    Quirk(
        "an answer that is not JSON, or a value of a wrong type, blocks the call", "read in its hook module, SDK 1.0.32"
    ),
    Quirk("with `failClosed` an empty answer blocks, so `{}` is printed", "read in its hook module, SDK 1.0.32"),
    Quirk("context of more than 10,000 characters is dropped, so it is cut", "read in its hook module, SDK 1.0.32"),
    Quirk(
        "it takes a changed path, command, pattern or URL, but no changed text of a file",
        "read in its hook runtime, SDK 1.0.32",
    ),
    Quirk("one unknown event name invalidates the whole file", "read in its hook module, SDK 1.0.32"),
    Quirk("the name of an MCP tool does not contain its server", "read in its hook module, SDK 1.0.32"),
    Quirk("it runs the hooks in Claude settings too when third-party files are enabled", "its documentation"),
    Quirk("the IDE drops context at the start of a session; the CLI does not", "reported for 3.12.17"),
    Quirk("an allow does not skip the CLI's own list of approvals", "reported"),
)


def _adjust(event: str, payload: Payload) -> Payload:
    """Put tool name and input together: the events about one kind of tool have them at the top level."""
    if event in _TOOL_OF:
        payload |= {"tool_name": _TOOL_OF[event], "tool_input": _pop_fields(payload, _INPUT_OF[event])}
    elif event in ("beforeMCPExecution", "afterMCPExecution") and isinstance(payload.get("tool_name"), str):
        payload["tool_name"] = f"MCP:{payload['tool_name']}"
    if isinstance(output := payload.get("tool_response"), str) and output.startswith("{"):
        payload["tool_response"] = _json(output)
    if event == "sessionStart":
        payload.setdefault("source", "startup")
    if isinstance(loops := payload.get("loop_count"), int):
        payload["stop_hook_active"] = loops > 0
    return payload


_TOOL_OF = {
    "beforeShellExecution": "Shell",
    "afterShellExecution": "Shell",
    "beforeReadFile": "Read",
    "afterFileEdit": "Write",
}
_INPUT_OF = {
    "beforeShellExecution": ("command",),
    "afterShellExecution": ("command",),
    "beforeReadFile": ("file_path",),
    "afterFileEdit": ("file_path", "edits"),
}


def _pop_fields(payload: Payload, keys: tuple[str, ...]) -> Payload:
    return {key: payload.pop(key) for key in keys if key in payload}


def _json(text: str) -> Payload | str:
    try:
        return read_payload(text.encode("utf-8", "replace"))[0]
    except PayloadError:
        return text


_DENY = flat(permission="deny", user_message=Slot.REASON, agent_message=Slot.REASON)
_ALLOW = flat(permission="allow")
_CONTEXT = flat(additional_context=Slot.NOTE)
_GO_ON = flat(followup_message=Slot.REASON)
_SPECIFIC = Answers(deny=_DENY, allow=_ALLOW)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    events={
        "beforeSubmitPrompt": "UserPromptSubmit",
        "beforeShellExecution": "PreToolUse",
        "beforeMCPExecution": "PreToolUse",
        "beforeReadFile": "PreToolUse",
        "afterShellExecution": "PostToolUse",
        "afterMCPExecution": "PostToolUse",
        "afterFileEdit": "PostToolUse",
    },
    fields={
        "session_id": ("session_id", "conversation_id"),
        "cwd": ("cwd", "workspace_roots.0"),
        "tool_response": ("tool_output", "result_json", "output"),
        "error": ("error_message",),
        "agent_id": ("subagent_id",),
        "agent_type": ("subagent_type",),
        "last_assistant_message": ("summary",),
    },
    adjust=_adjust,
    mcp_name=("MCP:", ""),
    neutral=reply_forms.EMPTY_OBJECT,
    longest_note=10_000,
    response_text=("output",),
    tools={
        "Shell": Tool("Bash"),
        "Read": Tool("Read", {"file_path": "file_path", "path": "file_path", "target_file": "file_path"}),
        "Write": Tool(
            "Write", {"file_path": "file_path", "path": "file_path", "content": "content", "contents": "content"}
        ),
        "Delete": Tool("Delete", {"file_path": "file_path", "path": "file_path"}),
        "Grep": Tool("Grep", {"file_path": "path"}),
        "List": Tool("LS", {"file_path": "path"}),
        "Task": Tool("Task"),
        "Fetch": Tool("WebFetch"),
        "WebFetch": Tool("WebFetch"),
        "WebSearch": Tool("WebSearch"),
    },
    merges_input=True,
    rewritable={
        "Shell": frozenset({"command", "cwd", "timeout"}),
        "Grep": frozenset({"pattern", "file_path"}),
        "Fetch": frozenset({"url"}),
        "ListMcpResources": frozenset({"server"}),
        "FetchMcpResource": frozenset({"server", "uri", "download_path"}),
        **dict.fromkeys(("Read", "Write", "Delete", "List", "ReadLints"), frozenset({"file_path"})),
    },
    answers={
        "PreToolUse": Answers(
            deny=_DENY,
            allow=_ALLOW,
            rewrite=flat(permission="allow", updated_input=Slot.INPUT),
            note=_CONTEXT,
        ),
        "beforeShellExecution": _SPECIFIC,
        "beforeMCPExecution": _SPECIFIC,
        "beforeReadFile": _SPECIFIC,
        "PostToolUse": Answers(note=_CONTEXT),
        "afterShellExecution": Answers(neutral=reply_forms.EMPTY_OBJECT),
        "afterMCPExecution": Answers(neutral=reply_forms.EMPTY_OBJECT),
        "afterFileEdit": Answers(neutral=reply_forms.EMPTY_OBJECT),
        "UserPromptSubmit": Answers(
            deny=flat(**{"continue": False, "user_message": Slot.REASON}),
            note=_CONTEXT,
        ),
        "SessionStart": Answers(
            note=flat(**{"continue": True, "additional_context": Slot.NOTE}),
            env=flat(**{"continue": True, "env": Slot.ENV}),
            neutral=flat(**{"continue": True}),
        ),
        "Stop": Answers(deny=_GO_ON),
        "SubagentStop": Answers(deny=_GO_ON),
        "PostToolUseFailure": Answers(note=_CONTEXT),
        "SubagentStart": Answers(),
        "PreCompact": Answers(),
        "SessionEnd": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# One event name that Cursor does not know invalidates the whole file.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("cursor", "cursor-agent"),
    base="~/.cursor",
    folders=("{base}",),
    form=HookForm(
        name="cursor",
        layout="lists",
        entry={"command": Placeholder.COMMAND, "timeout": Placeholder.SECONDS},
        more={"stop": {"loop_limit": 5}, "subagentStop": {"loop_limit": 5}},
        start={"version": 1},
    ),
    hooks={"user": "{base}/hooks.json", "project": ".cursor/hooks.json"},
    events=(
        "sessionStart",
        "sessionEnd",
        "beforeSubmitPrompt",
        "preToolUse",
        "postToolUse",
        "postToolUseFailure",
        "stop",
        "subagentStart",
        "subagentStop",
        "preCompact",
    ),
    session_start=("sessionStart",),
    mcp={"user": "{base}/mcp.json", "project": ".cursor/mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("restart Cursor, and check the Hooks page of its settings",),
    remarks=(
        "if third-party configurations are enabled, it also runs Claude Code's hook files",
        "in a project it does not read a hook file that is a symbolic link or in a linked folder",
    ),
)
