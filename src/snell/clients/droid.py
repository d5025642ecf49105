"""Factory Droid 0.225.2: Claude's events and answers, its own tool names; failed tools are not reported."""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import SHELL_ENTRY, STDIO_SERVER, group
from snell.clients.protocol.table import Answers, ClientTable, Tool
from snell.model.installs import HookForm, Install
from snell.model.protocols import Capabilities, Quirk

NAME = "droid"
TITLE = "Factory Droid"
CAPABILITIES = Capabilities(ask=False)
QUIRKS = (
    Quirk("an ask is logged and the tool runs, in every mode, so such a call is refused", "seen in 0.225.2"),
    Quirk(
        "a changed input needs an approval; without one the call is refused with the changed input",
        "seen in 0.225.2",
    ),
    Quirk("a changed input is merged into the old one", "seen in 0.225.2"),
    Quirk("context before a tool is ignored", "seen in 0.225.2"),
    Quirk("`decision: block` is ignored before and after a tool; exit code 2 is not", "seen in 0.225.2"),
    Quirk("`hooks.json` with a `hooks` wrapper is accepted and never fires", "seen in 0.225.2"),
    Quirk("failed tools are not reported", "seen in 0.225.2"),
    Quirk("a subagent is a session of its own", "seen in 0.225.2"),
    Quirk("the main prompt is not reported in `exec` mode", "seen in 0.225.2"),
    Quirk("exit code 3 ends the agent", "seen in 0.225.2"),
)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    fields={"agent_type": ("task_name",), "last_assistant_message": ("task_result",)},
    merges_input=True,
    rewrite_allows=True,
    free_modes=frozenset({"auto-high"}),
    mcp_name=("", "___"),
    tools={
        "Execute": Tool("Bash"),
        "Read": Tool("Read"),
        "Create": Tool("Write"),
        "Edit": Tool("Edit", {"old_str": "old_string", "new_str": "new_string"}),
        "ApplyPatch": Tool("Edit", {"input": "new_string"}, is_patch=True),
        "Grep": Tool("Grep"),
        "Glob": Tool("Glob", lists={"patterns": "pattern"}),
        "LS": Tool("LS", {"directory_path": "path"}),
        "FetchUrl": Tool("WebFetch"),
        "WebSearch": Tool("WebSearch"),
        "Task": Tool("Task"),
        "TodoWrite": Tool("TodoWrite"),
    },
    answers={
        "PreToolUse": Answers(
            deny=reply_forms.PERMISSION_DENY,
            allow=reply_forms.PERMISSION_ALLOW,
            rewrite=reply_forms.ALLOWED_INPUT,
            stop=reply_forms.HALT,
            tell=reply_forms.MESSAGE,
        ),
        "PostToolUse": Answers(
            deny=reply_forms.EXIT_2, note=reply_forms.CONTEXT, stop=reply_forms.HALT, tell=reply_forms.MESSAGE
        ),
        "UserPromptSubmit": Answers(
            deny=reply_forms.EXIT_2, note=reply_forms.CONTEXT, stop=reply_forms.HALT, tell=reply_forms.MESSAGE
        ),
        "SessionStart": Answers(note=reply_forms.CONTEXT, tell=reply_forms.MESSAGE),
        "Stop": Answers(deny=reply_forms.BLOCK, stop=reply_forms.HALT, tell=reply_forms.MESSAGE),
        "SubagentStop": Answers(stop=reply_forms.HALT, tell=reply_forms.MESSAGE),
        "PreCompact": Answers(tell=reply_forms.MESSAGE),
        "SessionEnd": Answers(),
        "Notification": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# The file holds the events at its top: Droid accepts a file with `hooks` around them, and never runs it.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("droid",),
    base="~/.factory",
    folders=("{base}",),
    form=HookForm(name="bare_groups", layout="lists", entry=group(SHELL_ENTRY), at=()),
    hooks={"user": "{base}/hooks.json", "project": ".factory/hooks.json"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "Notification",
    ),
    matcher="*",
    mcp={"user": "{base}/mcp.json", "project": ".factory/mcp.json"},
    mcp_entry=STDIO_SERVER,
    rules={"user": "{base}/AGENTS.md", "project": "AGENTS.md"},
    after=("start a new session",),
)
