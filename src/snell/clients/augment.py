"""Augment (auggie 0.36): answers like Claude's, its own names for prompt and session, and no shell for commands."""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import group
from snell.clients.protocol.reply_forms import specific
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.events import Payload
from snell.model.installs import HookForm, Install, Placeholder
from snell.model.protocols import Capabilities, Quirk

NAME = "augment"
TITLE = "Augment"
CAPABILITIES = Capabilities(native=False, rewrite=False, prompt_block=False)
QUIRKS = (
    Quirk("an ask is only known to be shown at a terminal; elsewhere the call is refused", "its documentation"),
    Quirk("every answer needs the event's own name in it, or it is ignored", "read in its bundle, 0.36"),
    Quirk("exit code 2 blocks before a tool only", "read in its bundle, 0.36"),
    Quirk(
        "it is unknown whether a changed input has an effect, so such a call is refused with the changed input",
        "read in its bundle, 0.36",
    ),
    Quirk("timeouts are in milliseconds, and the command is run without a shell", "read in its bundle, 0.36"),
    Quirk(
        "a tool of an MCP server has no server in its name; it matches under its own name", "read in its bundle, 0.36"
    ),
)


def _refine(name: str, payload: Payload) -> str:
    return "PostToolUseFailure" if name == "PostToolUse" and payload.get("error") else name


_TOOL_DONE = Answers(note=reply_forms.CONTEXT)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    events={"PromptSubmit": "UserPromptSubmit"},
    fields={
        "session_id": ("conversation_id",),
        "cwd": ("cwd", "workspace_roots.0"),
        "prompt": ("user_prompt",),
        "tool_response": ("tool_output",),
        "error": ("tool_error",),
    },
    refine=_refine,
    one_shot=frozenset({"-p", "--print", "-q", "--quiet", "--acp"}),
    asks_when="start Augment in a terminal without `--print`",
    tools={
        "launch-process": Tool("Bash"),
        "view": Tool("Read", {"path": "file_path"}),
        "save-file": Tool("Write", {"path": "file_path", "file_content": "content"}),
        "str-replace-editor": Tool("Edit", {"path": "file_path", "old_str_1": "old_string", "new_str_1": "new_string"}),
        "codebase-retrieval": Tool("Grep", {"information_request": "pattern"}),
        "web-fetch": Tool("WebFetch"),
        "web-search": Tool("WebSearch"),
    },
    answers={
        "PreToolUse": Answers(
            deny=reply_forms.PERMISSION_DENY,
            ask=reply_forms.PERMISSION_ASK,
            allow=reply_forms.PERMISSION_ALLOW,
            note=reply_forms.CONTEXT,
        ),
        "PostToolUse": _TOOL_DONE,
        "PostToolUseFailure": _TOOL_DONE,
        "UserPromptSubmit": Answers(note=reply_forms.CONTEXT),
        "SessionStart": Answers(note=reply_forms.CONTEXT),
        "Stop": Answers(deny=specific(decision="block", reason=Slot.REASON)),
        "SessionEnd": Answers(),
        "Notification": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# Groups as in Claude Code; time limits in milliseconds; commands run without a shell.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("auggie",),
    base="~/.augment",
    folders=("{base}",),
    form=HookForm(
        name="augment",
        layout="lists",
        entry=group({"type": "command", "command": Placeholder.SCRIPT, "timeout": Placeholder.MILLISECONDS}),
        script="snell-hook-augment",
    ),
    format="jsonc",
    hooks={
        "user": "{base}/settings.json",
        "project": ".augment/settings.json",
        "local": ".augment/settings.local.json",
    },
    events=("SessionStart", "SessionEnd", "PromptSubmit", "PreToolUse", "PostToolUse", "Stop", "Notification"),
    matcher=".*",
    mcp={"user": "{base}/settings.json", "project": ".augment/settings.json"},
    mcp_format="jsonc",
    rules={"project": "AGENTS.md"},
    after=("start a new session",),
)
