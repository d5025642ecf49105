"""Kiro, and Amazon Q CLI before it: exit code 2 before a tool, plain text at the start of a session and at a prompt."""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.table import Answers, ClientTable, Tool
from snell.model.installs import HookForm, Install, Placeholder
from snell.model.protocols import Capabilities, Quirk

NAME = "kiro"
TITLE = "Kiro"
CAPABILITIES = Capabilities(native=False, ask=False, rewrite=False, stop=False)
QUIRKS = (
    Quirk("before a tool any exit code but 0 blocks", "its documentation"),
    Quirk("some builds send a refused prompt to the model", "reported, issue 11050"),
    Quirk("the text of a prompt is empty in some builds", "reported, issues 10308 and 10346"),
    Quirk("exit code 2 does not work on Windows", "reported, issue 8264"),
    Quirk("Amazon Q sends no session id", "its documentation"),
)

_SHELL = Tool("Bash")
_READ = Tool("Read", {"path": "file_path"})
_WRITE = Tool("Write", {"path": "file_path", "file_text": "content", "text": "content"})

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    events={"agentSpawn": "SessionStart"},
    mcp_name=("@", "/"),
    tools={
        "execute_bash": _SHELL,
        "executeBash": _SHELL,
        "shell": _SHELL,
        "execute_cmd": _SHELL,
        "fs_read": _READ,
        "read": _READ,
        "fs_write": _WRITE,
        "write": _WRITE,
        "grep": Tool("Grep"),
        "glob": Tool("Glob"),
        "web_fetch": Tool("WebFetch"),
        "web_search": Tool("WebSearch"),
    },
    answers={
        "PreToolUse": Answers(deny=reply_forms.EXIT_2),
        "UserPromptSubmit": Answers(deny=reply_forms.EXIT_2, note=reply_forms.PLAIN_NOTE),
        "SessionStart": Answers(note=reply_forms.PLAIN_NOTE),
        "PostToolUse": Answers(),
        "Stop": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# It reads every file of its hooks folder, so Snell has a file of its own.
INSTALL = Install(
    name=NAME,
    title="Kiro / Amazon Q",
    programs=("kiro", "kiro-cli"),
    base="~/.kiro",
    folders=("{base}",),
    form=HookForm(
        name="kiro",
        layout="files",
        entry={
            "name": Placeholder.EVENT_ENTRY_NAME,
            "trigger": Placeholder.EVENT,
            "matcher": Placeholder.MATCHER,
            "action": {"type": "command", "command": Placeholder.COMMAND},
            "timeout": Placeholder.SECONDS,
            "enabled": True,
        },
        files={"": {"version": "v1", "hooks": Placeholder.HOOK_LIST}},
    ),
    format="own file",
    hooks={"user": "{base}/hooks/snell.json", "project": ".kiro/hooks/snell.json"},
    events=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
    matcher=".*",
    mcp={"user": "{base}/settings/mcp.json", "project": ".kiro/settings/mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("restart Kiro",),
    remarks=("Amazon Q reads hooks from its agent files only; add the same commands there by hand",),
)
