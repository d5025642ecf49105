"""Crush: it calls hooks before a tool only."""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import STDIO_SERVER
from snell.clients.protocol.reply_forms import flat
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.installs import ENTRY_NAME, HookForm, Install, Placeholder
from snell.model.protocols import Capabilities, Quirk

NAME = "crush"
TITLE = "Crush"
CAPABILITIES = Capabilities(native=False, ask=False, stop=False, prompt_block=False)
QUIRKS = (
    Quirk("an ask is ignored, and the tool runs", "read in its source"),
    Quirk("a changed input is merged into the old one", "read in its source"),
    Quirk("hooks do not run inside its subagents", "read in its source"),
    Quirk("exit code 49 ends the turn", "read in its source"),
)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    event_fields=("event",),
    merges_input=True,
    mcp_name=("mcp_", "_"),
    tools={
        "bash": Tool("Bash"),
        "view": Tool("Read"),
        "write": Tool("Write"),
        "edit": Tool("Edit"),
        "multiedit": Tool("MultiEdit"),
        "grep": Tool("Grep"),
        "glob": Tool("Glob"),
        "ls": Tool("LS"),
        "fetch": Tool("WebFetch"),
        "web_search": Tool("WebSearch"),
        "agent": Tool("Agent"),
    },
    answers={
        "PreToolUse": Answers(
            deny=reply_forms.DECISION_DENY,
            allow=reply_forms.DECISION_ALLOW,
            rewrite=flat(updated_input=Slot.INPUT),
            note=flat(context=Slot.NOTE),
        ),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("crush",),
    base="~/.config/crush",
    folders=("{base}",),
    form=HookForm(
        name="crush",
        layout="lists",
        entry={
            "name": ENTRY_NAME,
            "matcher": Placeholder.MATCHER,
            "command": Placeholder.COMMAND,
            "timeout": Placeholder.SECONDS,
        },
    ),
    hooks={"user": "{base}/crush.json", "project": "crush.json", "local": ".crush.json"},
    events=("PreToolUse",),
    session_start=(),
    matcher=".*",
    mcp={"user": "{base}/crush.json", "project": "crush.json"},
    mcp_at=("mcp",),
    mcp_entry=STDIO_SERVER,
    rules={"project": "AGENTS.md"},
    after=("start a new session",),
    remarks=("it runs no hooks inside its sub-agents",),
)
