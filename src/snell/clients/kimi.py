"""
Kimi Code 2.1.0: Claude's events. Its answers are a deny before a tool, exit code 2 at a prompt or a stop, and text at a
prompt. All other output at a prompt becomes part of the conversation.
"""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.reply_forms import flat
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.installs import HookForm, Install, Placeholder
from snell.model.protocols import Capabilities, Quirk

NAME = "kimi"
TITLE = "Kimi Code"
CAPABILITIES = Capabilities(native=False, ask=False, rewrite=False)
QUIRKS = (
    Quirk("all output on stdout at a prompt becomes part of the conversation, even Claude's JSON", "seen in 2.1.0"),
    Quirk("`decision: block` is ignored at a prompt and a stop; exit code 2 is not", "seen in 2.1.0"),
    Quirk("one unknown key in a `[[hooks]]` table disables all hooks", "seen in 2.1.0"),
    Quirk("it does not wait for hooks after a tool, and ignores their answers", "seen in 2.1.0"),
    Quirk("a stop is continued once in a turn", "seen in 2.1.0"),
    Quirk("output of a tool is cut at 2000 characters", "seen in 2.1.0"),
)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    fields={
        "tool_use_id": ("tool_use_id", "tool_call_id"),
        "tool_response": ("tool_response", "tool_output"),
        "error": ("error.message", "error"),
    },
    mcp_name=("mcp__", "__"),
    tools={
        "Bash": Tool("Bash"),
        "Read": Tool("Read", {"path": "file_path"}),
        "Write": Tool("Write", {"path": "file_path"}),
        "Edit": Tool("Edit", {"path": "file_path"}),
        "FetchURL": Tool("WebFetch"),
        "TodoList": Tool("TodoWrite"),
    },
    answers={
        "PreToolUse": Answers(deny=reply_forms.PERMISSION_DENY),
        "UserPromptSubmit": Answers(deny=reply_forms.EXIT_2, note=flat(message=Slot.NOTE)),
        "Stop": Answers(deny=reply_forms.EXIT_2),
        "PostToolUse": Answers(),
        "PostToolUseFailure": Answers(),
        "PermissionRequest": Answers(),
        "SessionStart": Answers(),
        "SessionEnd": Answers(),
        "SubagentStart": Answers(),
        "SubagentStop": Answers(),
        "PreCompact": Answers(),
        "PostCompact": Answers(),
        "Notification": Answers(),
        "StopFailure": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# Tables with exactly these four keys: a fifth one invalidates the whole section.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("kimi",),
    base="~/.kimi-code",
    base_variable="KIMI_CODE_HOME",
    folders=("{base}",),
    form=HookForm(
        name="kimi",
        layout="tables",
        entry={
            "event": Placeholder.EVENT,
            "matcher": "",
            "command": Placeholder.COMMAND,
            "timeout": Placeholder.SECONDS,
        },
    ),
    format="toml",
    hooks={"user": "{base}/config.toml"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionRequest",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
    ),
    mcp={"user": "{base}/mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("start a new session",),
)
