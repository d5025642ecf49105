"""
Copilot in VS Code, with its own ("local") harness.

With the Copilot harness VS Code uses the protocol of Copilot CLI, and with the Claude or Codex harness theirs.
"""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import COPILOT_FILE, STDIO_SERVER
from snell.clients.protocol.reply_forms import flat, specific
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.installs import Install, Switch
from snell.model.protocols import Capabilities, Quirk

NAME = "vscode_copilot"
TITLE = "Copilot in VS Code"
CAPABILITIES = Capabilities()
QUIRKS = (
    Quirk("matchers are ignored, so every tool call is sent", "reported for 1.135"),
    Quirk("an answer with another event name than the payload's is ignored", "read in its source"),
    Quirk("no context can be given with a prompt", "read in its source"),
    Quirk("there is no end of a session", "its documentation"),
    Quirk("a `stopReason` stops even without `continue: false`", "read in its source"),
    Quirk("it runs the hooks in Claude settings and in `.github/hooks` too", "its documentation"),
)

_TOOL_DONE = Answers(deny=reply_forms.BLOCK, note=reply_forms.CONTEXT, stop=reply_forms.HALT, tell=reply_forms.MESSAGE)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    values={"source": {"new": "startup"}},
    mcp_name=("mcp_", "_"),
    tools={
        "run_in_terminal": Tool("Bash"),
        "runInTerminal": Tool("Bash"),
        "runTerminalCommand": Tool("Bash"),
        "read_file": Tool("Read", {"filePath": "file_path"}),
        "create_file": Tool("Write", {"filePath": "file_path"}),
        "replace_string_in_file": Tool(
            "Edit", {"filePath": "file_path", "oldString": "old_string", "newString": "new_string"}
        ),
        "insert_edit_into_file": Tool("Edit", {"filePath": "file_path", "code": "new_string"}),
        "multi_replace_string_in_file": Tool("MultiEdit"),
        "apply_patch": Tool("Edit", {"input": "new_string"}, is_patch=True),
        "edit_notebook_file": Tool("NotebookEdit", {"filePath": "notebook_path", "newCode": "new_source"}),
        "grep_search": Tool("Grep", {"query": "pattern"}),
        "file_search": Tool("Glob", {"query": "pattern"}),
        "list_dir": Tool("LS"),
        "fetch_webpage": Tool("WebFetch", lists={"urls": "url"}),
        "runSubagent": Tool("Agent"),
        "manage_todo_list": Tool("TodoWrite"),
    },
    answers={
        "PreToolUse": Answers(
            deny=reply_forms.PERMISSION_DENY,
            ask=reply_forms.PERMISSION_ASK,
            allow=reply_forms.PERMISSION_ALLOW,
            rewrite=reply_forms.UPDATED_INPUT,
            note=reply_forms.CONTEXT,
            stop=reply_forms.HALT,
            tell=reply_forms.MESSAGE,
        ),
        "PostToolUse": _TOOL_DONE,
        "UserPromptSubmit": Answers(
            deny=flat(**{"continue": False, "stopReason": Slot.REASON}), stop=reply_forms.HALT, tell=reply_forms.MESSAGE
        ),
        "SessionStart": Answers(note=reply_forms.CONTEXT, tell=reply_forms.MESSAGE),
        "Stop": Answers(
            deny=specific(decision="block", reason=Slot.REASON), stop=reply_forms.HALT, tell=reply_forms.MESSAGE
        ),
        "SubagentStop": Answers(deny=reply_forms.BLOCK, stop=reply_forms.HALT, tell=reply_forms.MESSAGE),
        "SubagentStart": Answers(tell=reply_forms.MESSAGE),
        "PreCompact": Answers(tell=reply_forms.MESSAGE),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# It reads Copilot's hook files; MCP servers are in a file of its own.
INSTALL = Install(
    name=NAME,
    title="VS Code Copilot",
    programs=("code", "code-insiders"),
    base="~/.copilot",
    base_variable="COPILOT_HOME",
    folders=("~/.vscode", "~/.config/Code"),
    form=COPILOT_FILE,
    format="own file",
    hooks={"user": "{base}/hooks/snell.json", "project": ".github/hooks/snell.json"},
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
        "Notification",
    ),
    switches=tuple(
        Switch(
            ("chat.hookFilesLocations", folder),
            False,
            (".vscode/settings.json", "~/.config/Code/User/settings.json"),
        )
        for folder in ("~/.copilot/hooks", ".github/hooks")
    ),
    mcp={"user": "~/.config/Code/User/mcp.json", "project": ".vscode/mcp.json"},
    mcp_at=("servers",),
    mcp_entry=STDIO_SERVER,
    mcp_format="jsonc",
    rules={"project": "AGENTS.md"},
    reads=("claude-code:", "copilot:"),
    after=("start a new chat session",),
    remarks=("it shares Copilot's hook files",),
)
