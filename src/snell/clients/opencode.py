"""
OpenCode 1.18.33, through the plugin `plugin_files/opencode.js`.

The plugin sends payloads in Claude's form with OpenCode's tool names, and takes answers with five keys: deny, input,
output, note, tell.
"""

from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import PLUGIN
from snell.clients.protocol.reply_forms import flat
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.installs import Install, Placeholder
from snell.model.protocols import Capabilities, Quirk

NAME = "opencode"
TITLE = "OpenCode"
CAPABILITIES = Capabilities(native=False, plugin=True, ask=False)
BRIDGE = "opencode.js"
QUIRKS = (
    Quirk("a stop is continued by a new prompt, which is lost in a headless `run`", "seen in 1.18.33"),
    Quirk("`permission.ask` is never called, so the user cannot be asked", "seen in 1.18.33"),
    Quirk(
        "the start of a session is reported with its first prompt: a note can only be given then",
        "seen in 1.18.33",
    ),
    Quirk(
        "a tool of an MCP server is called `server_tool`; with underscores in the server the split is a guess",
        "seen in 1.18.33",
    ),
)

_DENY, _NOTE, _TELL = flat(deny=Slot.REASON), flat(note=Slot.NOTE), flat(tell=Slot.TELL)
_TURN_END = Answers(deny=_DENY, tell=_TELL)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    mcp_name=("", "_"),
    response_text=("output",),
    tools={
        "bash": Tool("Bash"),
        "read": Tool("Read", {"filePath": "file_path"}),
        "write": Tool("Write", {"filePath": "file_path"}),
        "edit": Tool("Edit", {"filePath": "file_path", "oldString": "old_string", "newString": "new_string"}),
        "multiedit": Tool("MultiEdit", {"filePath": "file_path"}),
        "patch": Tool("Edit", {"patchText": "new_string"}, is_patch=True),
        "apply_patch": Tool("Edit", {"patchText": "new_string"}, is_patch=True),
        "grep": Tool("Grep"),
        "glob": Tool("Glob"),
        "list": Tool("LS"),
        "webfetch": Tool("WebFetch"),
        "websearch": Tool("WebSearch"),
        "task": Tool("Task"),
        "todowrite": Tool("TodoWrite"),
        "skill": Tool("Skill", {"name": "skill"}),
        "plan_enter": Tool("EnterPlanMode"),
        "plan_exit": Tool("ExitPlanMode"),
    },
    answers={
        "PreToolUse": Answers(deny=_DENY, rewrite=flat(input=Slot.INPUT), tell=_TELL),
        "PostToolUse": Answers(deny=_DENY, rewrite=flat(output=Slot.OUTPUT), note=_NOTE, tell=_TELL),
        "UserPromptSubmit": Answers(deny=_DENY, note=_NOTE, tell=_TELL),
        "SessionStart": Answers(note=_NOTE, tell=_TELL),
        "PreCompact": Answers(note=_NOTE, tell=_TELL),
        "Stop": _TURN_END,
        "SubagentStop": Answers(tell=_TELL),
        "SubagentStart": Answers(tell=_TELL),
        "PostCompact": Answers(tell=_TELL),
        "SessionEnd": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# Hooks are plugins in its own language; Snell's plugin calls `snell-hook`.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("opencode",),
    base="~/.config/opencode",
    folders=("{base}",),
    form=PLUGIN,
    format="own file",
    hooks={"user": "{base}/plugins/snell.js", "project": ".opencode/plugins/snell.js"},
    events=("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact"),
    mcp={"user": "{base}/opencode.json", "project": "opencode.json"},
    mcp_at=("mcp",),
    mcp_entry={"type": "local", "command": Placeholder.ARGV, "enabled": True},
    mcp_format="jsonc",
    rules={"user": "{base}/AGENTS.md", "project": "AGENTS.md"},
    after=("restart OpenCode",),
)
