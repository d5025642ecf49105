"""
Pi 0.73.1, through the extension `plugin_files/pi.ts`.

The extension sends payloads in Claude's form with Pi's tool names, and takes answers with five keys: deny, input,
output, note, tell.
"""

from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import PLUGIN
from snell.clients.protocol.reply_forms import flat
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.installs import Install
from snell.model.protocols import Capabilities, Quirk

NAME = "pi"
TITLE = "Pi"
CAPABILITIES = Capabilities(native=False, plugin=True, ask=False, mcp=False)
BRIDGE = "pi.ts"
QUIRKS = (
    Quirk("it has no MCP", "read in its source"),
    Quirk("an edit is a list of changes to one file", "seen in 0.73.1"),
    Quirk("with `-p` it ends without waiting for the end of the turn, so a stop is not continued", "seen in 0.73.1"),
)

_DENY, _NOTE, _TELL = flat(deny=Slot.REASON), flat(note=Slot.NOTE), flat(tell=Slot.TELL)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    response_text=("content",),
    tools={
        "bash": Tool("Bash"),
        "read": Tool("Read", {"path": "file_path"}),
        "write": Tool("Write", {"path": "file_path"}),
        "edit": Tool("MultiEdit", {"path": "file_path"}),
        "grep": Tool("Grep"),
        "find": Tool("Glob"),
        "ls": Tool("LS"),
    },
    answers={
        "PreToolUse": Answers(deny=_DENY, rewrite=flat(input=Slot.INPUT), tell=_TELL),
        "PostToolUse": Answers(deny=_DENY, rewrite=flat(output=Slot.OUTPUT), note=_NOTE, tell=_TELL),
        "PostToolUseFailure": Answers(deny=_DENY, note=_NOTE, tell=_TELL),
        "UserPromptSubmit": Answers(deny=_DENY, note=_NOTE, tell=_TELL),
        "SessionStart": Answers(note=_NOTE, tell=_TELL),
        "PreCompact": Answers(deny=_DENY, tell=_TELL),
        "Stop": Answers(deny=_DENY, tell=_TELL),
        "PostCompact": Answers(tell=_TELL),
        "SessionEnd": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# Hooks are extensions in its own language; Snell's extension calls `snell-hook`. It has no MCP.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("pi",),
    base="~/.pi/agent",
    folders=("{base}",),
    form=PLUGIN,
    format="own file",
    hooks={"user": "{base}/extensions/snell.ts", "project": ".pi/extensions/snell.ts"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "PreCompact",
    ),
    rules={"user": "{base}/AGENTS.md", "project": "AGENTS.md"},
    after=("restart Pi",),
)
