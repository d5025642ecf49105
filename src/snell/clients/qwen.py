"""Qwen Code 0.24.4: Claude's events and answers, but no changed input and no context before a tool."""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import GROUPS
from snell.clients.protocol.table import Answers, ClientTable, Tool
from snell.model.events import Payload
from snell.model.installs import Install, Switch
from snell.model.protocols import Capabilities, Quirk

NAME = "qwen"
TITLE = "Qwen Code"
CAPABILITIES = Capabilities(rewrite=False)
QUIRKS = (
    Quirk("in a run without a user it refuses a call that a hook asks about, with the hook's reason", "seen in 0.24.4"),
    Quirk("a changed input and context before a tool are ignored, and the tool runs unchanged", "seen in 0.24.4"),
    Quirk("a refusal after a tool has no effect; its reason is sent as context", "seen in 0.24.4"),
    Quirk(
        "a prompt is reported again, empty, after every tool result; it is a ToolResultSubmit here", "seen in 0.24.4"
    ),
    Quirk("there is no end of a session in `-p` mode", "seen in 0.24.4"),
    Quirk("exit code 2 with nothing on stderr does not block", "seen in 0.24.4"),
    Quirk("a timeout of 1000 or more is taken for milliseconds", "seen in 0.24.4"),
)


def _refine(name: str, payload: Payload) -> str:
    return "ToolResultSubmit" if name == "UserPromptSubmit" and payload.get("prompt") == "" else name


_TURN_END = Answers(deny=reply_forms.BLOCK, stop=reply_forms.HALT, tell=reply_forms.MESSAGE)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    fields={"delta": ("displayed_text",)},
    values={"permission_mode": {"auto_edit": "acceptEdits", "yolo": "bypassPermissions"}},
    refine=_refine,
    response_text=("llmContent",),
    free_modes=frozenset({"bypassPermissions"}),
    asks_when="start Qwen Code in another mode than `yolo`",
    mcp_name=("mcp__", "__"),
    tools={
        "run_shell_command": Tool("Bash"),
        "read_file": Tool("Read"),
        "write_file": Tool("Write"),
        "edit": Tool("Edit"),
        "grep_search": Tool("Grep"),
        "glob": Tool("Glob"),
        "list_directory": Tool("LS"),
        "web_fetch": Tool("WebFetch"),
        "agent": Tool("Agent"),
        "todo_write": Tool("TodoWrite"),
    },
    answers={
        "PreToolUse": Answers(
            deny=reply_forms.PERMISSION_DENY,
            ask=reply_forms.PERMISSION_ASK,
            allow=reply_forms.PERMISSION_ALLOW,
            stop=reply_forms.HALT,
            tell=reply_forms.MESSAGE,
        ),
        "PostToolUse": Answers(note=reply_forms.CONTEXT, stop=reply_forms.HALT, tell=reply_forms.MESSAGE),
        "UserPromptSubmit": Answers(
            deny=reply_forms.BLOCK, note=reply_forms.CONTEXT, stop=reply_forms.HALT, tell=reply_forms.MESSAGE
        ),
        "SessionStart": Answers(note=reply_forms.CONTEXT, tell=reply_forms.MESSAGE),
        "Stop": _TURN_END,
        "SubagentStop": _TURN_END,
        "PostToolUseFailure": Answers(tell=reply_forms.MESSAGE),
        "PostToolBatch": Answers(tell=reply_forms.MESSAGE),
        "SubagentStart": Answers(tell=reply_forms.MESSAGE),
        "PreCompact": Answers(tell=reply_forms.MESSAGE),
        "PostCompact": Answers(tell=reply_forms.MESSAGE),
        "SessionEnd": Answers(),
        "Notification": Answers(),
        "StopFailure": Answers(),
        "MessageDisplay": Answers(),
        "InstructionsLoaded": Answers(),
        "PermissionRequest": Answers(),
        "PermissionDenied": Answers(),
        "UserPromptExpansion": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# Claude's form in its settings file; a time limit has to be below 1000, or it is taken for milliseconds.
_FILES = (".qwen/settings.json", "{base}/settings.json")

INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("qwen",),
    base="~/.qwen",
    folders=("{base}",),
    form=GROUPS,
    format="jsonc",
    hooks={"user": "{base}/settings.json", "project": ".qwen/settings.json"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
        "StopFailure",
    ),
    matcher=".*",
    switches=(Switch(("disableAllHooks",), True, _FILES), Switch(("hooksConfig", "enabled"), False, _FILES)),
    mcp={"user": "{base}/settings.json", "project": ".qwen/settings.json"},
    mcp_format="jsonc",
    rules={"user": "{base}/QWEN.md", "project": "AGENTS.md"},
    after=("start a new session",),
)
