"""Grok Build 1.0.41 (xAI): Claude's events, every field in two spellings, no context before the first tool."""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import SHELL_ENTRY, group
from snell.clients.protocol.reply_forms import specific
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.events import Payload
from snell.model.installs import HookForm, Install, Placeholder
from snell.model.protocols import Capabilities, Quirk

NAME = "grok"
TITLE = "Grok Build"
CAPABILITIES = Capabilities()
QUIRKS = (
    Quirk("answers at the start of a session or to a prompt are ignored", "seen in 1.0.41"),
    Quirk("one more Stop is sent when the session ends; it is a Shutdown here", "seen in 1.0.41"),
    Quirk("an ask is not shown under `bypassPermissions`: the tool runs", "seen in 1.0.41"),
    Quirk("an ask ends a run without a user, with no output, so it is a refusal there", "seen in 1.0.41"),
    Quirk("hooks of a project are skipped until the folder is trusted", "seen in 1.0.41"),
    Quirk("it runs the hooks in a user's and a trusted project's Claude settings too", "seen in 1.0.41"),
    Quirk("a stop is continued eight times at most", "seen in 1.0.41"),
    Quirk("hooks have 5 s by default", "its documentation"),
)


def _refine(name: str, payload: Payload) -> str:
    return "Shutdown" if name == "Stop" and payload.get("reason") == "shutdown" else name


_TURN_END = Answers(deny=reply_forms.BLOCK)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    fields={
        "session_id": ("session_id", "sessionId"),
        "transcript_path": ("transcript_path", "transcriptPath"),
        "permission_mode": ("permission_mode", "permissionMode"),
        "cwd": ("cwd", "workspaceRoot"),
        "tool_name": ("tool_name", "toolName"),
        "tool_input": ("tool_input", "toolInput"),
        "tool_response": ("tool_response", "toolResult"),
        "tool_use_id": ("tool_use_id", "toolUseId"),
        "duration_ms": ("duration_ms", "durationMs"),
        "prompt_id": ("prompt_id", "promptId"),
        "stop_hook_active": ("stop_hook_active", "stopHookActive"),
        "last_assistant_message": ("last_assistant_message", "lastAssistantMessage"),
        "agent_id": ("agent_id", "subagentId"),
        "agent_type": ("agent_type", "subagentType"),
    },
    values={"source": {"new": "startup"}},
    refine=_refine,
    response_text=("output_for_prompt", "tool_output_for_prompt"),
    free_modes=frozenset({"bypassPermissions"}),
    one_shot=frozenset({"-p", "--single", "--print", "--prompt-file", "--prompt-json", "agent"}),
    asks_when="start Grok Build in a terminal without `-p` or `--always-approve`",
    mcp_name=("", "__"),
    wraps_mcp=True,
    tools={
        "run_terminal_command": Tool("Bash"),
        "read_file": Tool("Read", {"target_file": "file_path"}),
        "write": Tool("Write"),
        "search_replace": Tool("Edit", creates=Tool("Write", {"new_string": "content"})),
        "grep": Tool("Grep"),
        "list_dir": Tool("LS", {"target_directory": "path"}),
        "web_fetch": Tool("WebFetch"),
        "web_search": Tool("WebSearch"),
        "spawn_subagent": Tool("Agent"),
        "todo_write": Tool("TodoWrite"),
    },
    answers={
        "PreToolUse": Answers(
            deny=reply_forms.PERMISSION_DENY,
            ask=reply_forms.PERMISSION_ASK,
            allow=reply_forms.PERMISSION_ALLOW,
            rewrite=reply_forms.UPDATED_INPUT,
            note=reply_forms.CONTEXT,
        ),
        "PostToolUse": Answers(
            deny=reply_forms.BLOCK, rewrite=specific(updatedToolOutput=Slot.OUTPUT), note=reply_forms.CONTEXT
        ),
        "UserPromptSubmit": Answers(deny=reply_forms.BLOCK),
        "Stop": Answers(deny=reply_forms.BLOCK, stop=reply_forms.HALT),
        "SubagentStop": _TURN_END,
        "SessionStart": Answers(),
        "SessionEnd": Answers(),
        "PostToolUseFailure": Answers(),
        "SubagentStart": Answers(),
        "PreCompact": Answers(),
        "PostCompact": Answers(),
        "Notification": Answers(),
        "StopFailure": Answers(),
        "PermissionDenied": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# It reads every file of its hooks folder, so Snell has a file of its own. All tools match without a matcher.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("grok",),
    base="~/.grok",
    folders=("{base}",),
    form=HookForm(name="own_file", layout="files", entry=group(SHELL_ENTRY), files={"": {"hooks": Placeholder.HOOKS}}),
    format="own file",
    hooks={"user": "{base}/hooks/snell.json", "project": ".grok/hooks/snell.json"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
        "PermissionDenied",
    ),
    mcp={"user": "{base}/config.toml", "project": ".grok/config.toml"},
    mcp_at=("mcp_servers",),
    mcp_format="toml",
    rules={"user": "{base}/AGENTS.md", "project": "AGENTS.md"},
    reads=("claude-code:",),
    after=("in a project: trust the folder when Grok asks; until then it skips project hooks",),
    remarks=("it also runs Claude Code's hook files; `[compat.claude] hooks = false` in config.toml disables that",),
)
