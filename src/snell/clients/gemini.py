"""Gemini CLI 0.61.0: its own event names and answers. It ignores Claude's answers, and then the tool runs."""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.decode import value_at
from snell.clients.protocol.install_forms import group
from snell.clients.protocol.reply_forms import specific
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.events import Payload
from snell.model.installs import ENTRY_NAME, HookForm, Install, Placeholder, Switch
from snell.model.protocols import Capabilities, Quirk

NAME = "gemini"
TITLE = "Gemini CLI"
CAPABILITIES = Capabilities(native=False)
QUIRKS = (
    Quirk("Claude's `permissionDecision` and `updatedInput` are ignored, and the tool runs", "seen in 0.61.0"),
    Quirk("exit code 2 with JSON on stdout that has no `decision` does not block", "seen in 0.61.0"),
    Quirk("an exit code of 3 or more blocks if stderr is not empty", "seen in 0.61.0"),
    Quirk(
        "an ask ends a run without a user (`-p`, a pipe, CI) with no output, so it is a refusal there, and also where"
        " `/proc` does not show the client's process, and under an editor",
        "seen in 0.61.0",
    ),
    Quirk("context before a tool is ignored", "seen in 0.61.0"),
    Quirk("a changed input is merged into the old one", "seen in 0.61.0"),
    Quirk("PreCompress is sent before every request to the model, so it is not a PreCompact", "seen in 0.61.0"),
    Quirk("in an untrusted folder even the user's own hooks do not run", "seen in 0.61.0"),
    Quirk("timeouts are in milliseconds", "seen in 0.61.0"),
    Quirk("it sends no id with a tool call", "seen in 0.61.0"),
)


def _adjust(_event: str, payload: Payload) -> Payload:
    error = value_at(payload, "tool_response.error.message")
    return {**payload, "error": error} if isinstance(error, str) else payload


def _refine(name: str, payload: Payload) -> str:
    return "PostToolUseFailure" if name == "PostToolUse" and value_at(payload, "tool_response.error") else name


_TOOL_DONE = Answers(
    deny=reply_forms.DECISION_DENY,
    note=reply_forms.CONTEXT,
    stop=reply_forms.HALT,
    tell=reply_forms.MESSAGE,
    deny_replaces=True,
)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    events={
        "BeforeTool": "PreToolUse",
        "AfterTool": "PostToolUse",
        "BeforeAgent": "UserPromptSubmit",
        "AfterAgent": "Stop",
    },
    fields={"last_assistant_message": ("prompt_response",)},
    adjust=_adjust,
    refine=_refine,
    response_text=("llmContent",),
    merges_input=True,
    one_shot=frozenset({"-p", "--prompt", "--acp", "--experimental-acp"}),
    asks_when="start Gemini CLI in a terminal without `-p`",
    mcp_name=("mcp_", "_"),
    tools={
        "run_shell_command": Tool("Bash"),
        "read_file": Tool("Read"),
        "write_file": Tool("Write"),
        "replace": Tool("Edit"),
        "grep_search": Tool("Grep"),
        "glob": Tool("Glob"),
        "list_directory": Tool("LS", {"dir_path": "path"}),
        "web_fetch": Tool("WebFetch"),
        "google_web_search": Tool("WebSearch"),
        "invoke_agent": Tool("Agent", {"agent_name": "subagent_type"}),
        "write_todos": Tool("TodoWrite"),
    },
    answers={
        "PreToolUse": Answers(
            deny=reply_forms.DECISION_DENY,
            ask=reply_forms.DECISION_ASK,
            allow=reply_forms.DECISION_ALLOW,
            rewrite=specific(tool_input=Slot.INPUT),
            stop=reply_forms.HALT,
            tell=reply_forms.MESSAGE,
        ),
        "PostToolUse": _TOOL_DONE,
        "PostToolUseFailure": _TOOL_DONE,
        "UserPromptSubmit": Answers(
            deny=reply_forms.DECISION_DENY, note=reply_forms.CONTEXT, stop=reply_forms.HALT, tell=reply_forms.MESSAGE
        ),
        "SessionStart": Answers(note=reply_forms.CONTEXT, tell=reply_forms.MESSAGE),
        "Stop": Answers(deny=reply_forms.DECISION_DENY, stop=reply_forms.HALT, tell=reply_forms.MESSAGE),
        "SessionEnd": Answers(),
        "Notification": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# Groups as in Claude Code; its own event names; time limits in milliseconds.
_FILES = ("/etc/gemini-cli/settings.json", ".gemini/settings.json", "{base}/settings.json")

INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("gemini",),
    base="~/.gemini",
    folders=("{base}/settings.json", "{base}/tmp"),
    form=HookForm(
        name="gemini",
        layout="lists",
        entry=group(
            {
                "type": "command",
                "name": ENTRY_NAME,
                "command": Placeholder.COMMAND,
                "timeout": Placeholder.MILLISECONDS,
            }
        ),
    ),
    format="jsonc",
    hooks={"user": "{base}/settings.json", "project": ".gemini/settings.json"},
    # PreCompress is left out: it is sent before every request to the model.
    events=("SessionStart", "SessionEnd", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "Notification"),
    matcher=".*",
    switches=(
        Switch(("hooksConfig", "enabled"), False, _FILES),
        Switch(("hooksConfig", "disabled"), "snell", _FILES),
        Switch(("hooks", "enabled"), False, _FILES),
        Switch(("hooks", "disabled"), "snell", _FILES),
    ),
    mcp={"user": "{base}/settings.json", "project": ".gemini/settings.json"},
    mcp_format="jsonc",
    rules={"user": "{base}/GEMINI.md", "project": "GEMINI.md"},
    after=("trust the folder when Gemini CLI asks; in an untrusted folder it runs no hooks",),
)
