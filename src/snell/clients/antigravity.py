"""
Antigravity (CLI `agy` and IDE). Payloads do not name their event, so the command line does.

Some versions take an answer without a decision, or a crash, for a refusal: so an answer is always printed.
"""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import SHELL_ENTRY, group
from snell.clients.protocol.reply_forms import flat
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.events import Payload
from snell.model.installs import ENTRY_NAME, HookForm, Install
from snell.model.protocols import Capabilities, Quirk

NAME = "antigravity"
TITLE = "Antigravity"
CAPABILITIES = Capabilities(native=False, prompt_block=False)
QUIRKS = (
    Quirk(
        "before a tool `{}` is a refusal in 1.0.3 to 1.0.15, and so is no output in some versions: an allow is printed",
        "reported",
    ),
    Quirk("a crash or a timeout denies every tool of every session on the machine", "reported"),
    Quirk("events are named on the command line only", "reported"),
    Quirk("the text of a prompt and the output of a tool are not sent", "reported"),
    Quirk("the first PreInvocation of a turn is its prompt here, later ones are PostToolBatch", "reported"),
    Quirk("`ask` is skipped for a call that the user has always allowed; `force_ask` is not", "reported for 1.1.2"),
    Quirk("a changed input is merged into the old one", "reported"),
    Quirk("`.agents/hooks.json` of a project is ignored by some versions", "reported for 1.2.4"),
)


def _adjust(event: str, payload: Payload) -> Payload:
    step, runs = payload.pop("stepIdx", None), payload.get("executionNum")
    if isinstance(step, int):
        payload["tool_use_id"] = f"step-{step}"
    if event == "Stop" and isinstance(runs, int):
        payload["stop_hook_active"] = runs > 0
    if event == "SessionStart":
        payload.setdefault("source", "startup")
    return payload


def _refine(name: str, payload: Payload) -> str:
    if name == "PreInvocation":
        return "PostToolBatch" if payload.get("invocationNum") else "UserPromptSubmit"
    return "PostToolUseFailure" if name == "PostToolUse" and payload.get("error") else name


_INJECT = flat(injectSteps=[{"ephemeralMessage": Slot.NOTE}])

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    fields={
        "session_id": ("conversationId",),
        "cwd": ("workspacePaths.0",),
        "transcript_path": ("transcriptPath",),
        "tool_name": ("toolCall.name",),
        "tool_input": ("toolCall.args",),
        "model": ("modelName",),
    },
    drops=frozenset({"toolCall"}),
    adjust=_adjust,
    refine=_refine,
    merges_input=True,
    neutral=reply_forms.EMPTY_OBJECT,
    tools={
        "run_command": Tool("Bash", {"CommandLine": "command", "Cwd": "cwd"}),
        "view_file": Tool("Read", {"AbsolutePath": "file_path"}),
        "write_to_file": Tool("Write", {"TargetFile": "file_path", "CodeContent": "content"}),
        "replace_file_content": Tool(
            "Edit", {"TargetFile": "file_path", "TargetContent": "old_string", "ReplacementContent": "new_string"}
        ),
        "multi_replace_file_content": Tool("MultiEdit", {"TargetFile": "file_path"}),
        "grep_search": Tool("Grep", {"Query": "pattern", "SearchPath": "path"}),
        "find_by_name": Tool("Glob", {"Pattern": "pattern", "SearchDirectory": "path"}),
        "list_dir": Tool("LS", {"DirectoryPath": "path"}),
        "read_url_content": Tool("WebFetch", {"Url": "url"}),
        "search_web": Tool("WebSearch"),
        "invoke_subagent": Tool("Agent"),
    },
    answers={
        "PreToolUse": Answers(
            deny=reply_forms.DECISION_DENY,
            ask=flat(decision="force_ask", reason=Slot.REASON),
            allow=reply_forms.DECISION_ALLOW,
            rewrite=flat(decision="allow", overwrite=Slot.INPUT),
            neutral=reply_forms.DECISION_ALLOW,
        ),
        "Stop": Answers(deny=flat(decision="continue", reason=Slot.REASON)),
        "SessionStart": Answers(note=_INJECT),
        "UserPromptSubmit": Answers(note=_INJECT),
        "PostToolBatch": Answers(note=_INJECT),
        "PostToolUse": Answers(),
        "PostToolUseFailure": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# All entries are in one global file: a mistake in it refuses every tool of every session.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("agy", "antigravity"),
    base="~/.gemini/config",
    folders=("{base}", "~/.antigravity"),
    form=HookForm(
        name="antigravity",
        layout="member",
        entry=group(SHELL_ENTRY),
        entry_without_tool=SHELL_ENTRY,
        at=(ENTRY_NAME,),
    ),
    # Some versions ignore the project's file, so the user's file is the default.
    hooks={"user": "{base}/hooks.json", "project": ".agents/hooks.json"},
    events=("SessionStart", "PreInvocation", "PreToolUse", "PostToolUse", "Stop"),
    matcher="*",
    # Several versions take empty output, or a command that is not found, for a refusal.
    neutral={"PreToolUse": '{"decision":"allow"}', "": "{}"},
    refusal='{"decision":"deny","reason":"snell-hook is not installed, and nothing may run unchecked"}',
    mcp={"user": "{base}/mcp_config.json", "project": ".agents/mcp_config.json"},
    rules={"user": "~/.gemini/GEMINI.md", "project": "AGENTS.md"},
    after=("restart Antigravity",),
)
