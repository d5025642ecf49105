"""Goose 1.35 and later: it reads answers before a tool and at a stop, and ignores all others."""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import SHELL_ENTRY, group
from snell.clients.protocol.table import Answers, ClientTable, Tool
from snell.model.events import Payload
from snell.model.installs import ENTRY_NAME, OUR_MARK, HookForm, Install, Placeholder
from snell.model.protocols import Capabilities, Quirk

NAME = "goose"
TITLE = "Goose"
CAPABILITIES = Capabilities(native=False, ask=False, rewrite=False, note=False, prompt_block=False)
QUIRKS = (
    Quirk("it reads only a refusal before a tool or at a stop", "read in its source"),
    Quirk("every tool is named after its extension, so those of an MCP server look like its own", "read in its source"),
)


def _adjust(_event: str, payload: Payload) -> Payload:
    if payload.get("hook_event_name") == "PostToolUseFailure" or _event == "PostToolUseFailure":
        payload["error"] = payload.pop("tool_response", "")
    return payload


_REFUSES = Answers(deny=reply_forms.BLOCK)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    event_fields=("event",),
    fields={
        "cwd": ("working_dir",),
        "prompt": ("message",),
        "tool_use_id": ("tool_call_id",),
        "tool_response": ("tool_output",),
    },
    adjust=_adjust,
    mcp_name=("", "__"),
    tools={
        "developer__shell": Tool("Bash"),
        "developer__text_editor": Tool(
            "Edit",
            {"path": "file_path", "old_str": "old_string", "new_str": "new_string"},
            creates=Tool("Write", {"path": "file_path", "file_text": "content"}),
        ),
        "developer__write": Tool("Write", {"path": "file_path"}),
        "developer__edit": Tool("Edit", {"path": "file_path", "before": "old_string", "after": "new_string"}),
    },
    answers={
        "PreToolUse": _REFUSES,
        "Stop": _REFUSES,
        "PostToolUse": Answers(),
        "PostToolUseFailure": Answers(),
        "UserPromptSubmit": Answers(),
        "SessionStart": Answers(),
        "SessionEnd": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# Hooks are a plugin folder with a manifest; MCP servers are in a YAML file.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("goose",),
    base="~/.agents/plugins/snell",
    folders=("~/.config/goose",),
    form=HookForm(
        name="goose",
        layout="files",
        entry=group(SHELL_ENTRY),
        files={
            "plugin.json": {
                "name": ENTRY_NAME,
                "version": "1.0.0",
                "description": f"runs Snell's hooks; {OUR_MARK}",
            },
            "hooks/hooks.json": {"hooks": Placeholder.HOOKS},
        },
    ),
    format="own file",
    hooks={"user": "{base}", "project": ".agents/plugins/snell"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
    ),
    matcher=".*",
    mcp={"user": "~/.config/goose/config.yaml"},
    mcp_at=("extensions",),
    mcp_entry={
        "name": ENTRY_NAME,
        "type": "stdio",
        "cmd": Placeholder.PROGRAM,
        "args": Placeholder.ARGUMENTS,
        "envs": {},
        "enabled": True,
    },
    mcp_format="yaml",
    rules={"project": "AGENTS.md"},
    after=("start a new session",),
)
