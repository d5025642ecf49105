"""
GitHub Copilot CLI 1.0.102, and other programs that use its SDK.

The spelling of an event's name in the configuration selects the payload: PascalCase gives Claude's field and tool names
(with Copilot's own keys inside the input), camelCase gives Copilot's own. Both are decoded; the answers fit both.
"""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import COPILOT_FILE
from snell.clients.protocol.reply_forms import flat
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.events import Payload
from snell.model.installs import Install, Placeholder, Switch
from snell.model.protocols import Capabilities, Quirk

NAME = "copilot"
TITLE = "Copilot CLI"
CAPABILITIES = Capabilities()
QUIRKS = (
    Quirk("before a tool any exit code but 0 denies, a crash included", "seen in 1.0.102"),
    Quirk("exit code 2 loses its reason, and does nothing at a prompt or a stop", "seen in 1.0.102"),
    Quirk("context is read beside `hookSpecificOutput`, not inside it, except before a tool", "seen in 1.0.102"),
    Quirk("a SubagentStart payload does not name its event; the command line or its fields do", "seen in 1.0.102"),
    Quirk("it runs the hooks in a project's Claude settings too, without their `args`", "seen in 1.0.102"),
    Quirk("a hook gets the call as the hook before it has changed it", "seen in 1.0.102"),
    Quirk("it sends no id with a tool call", "seen in 1.0.102"),
    Quirk(
        "a subagent reports prompts and turn ends of its own; they are SubagentPrompt and SubagentTurn",
        "seen in 1.0.102",
    ),
    Quirk(
        "a tool of an MCP server is called `server-tool`; with dashes in either the split is a guess", "seen in 1.0.102"
    ),
)


def _refine(name: str, payload: Payload) -> str:
    if not payload.get("parent_agent_id"):
        return name
    return {"UserPromptSubmit": "SubagentPrompt", "Stop": "SubagentTurn"}.get(name, name)


_SHELL = Tool("Bash")
_READ = Tool("Read", {"path": "file_path"})
_WRITE = Tool("Write", {"path": "file_path", "file_text": "content"})
_EDIT = Tool("Edit", {"path": "file_path", "old_str": "old_string", "new_str": "new_string"})
_AGENT = Tool("Agent", {"agent_type": "subagent_type"})
_PERMISSION = Answers(
    deny=reply_forms.PERMISSION_DENY,
    ask=reply_forms.PERMISSION_ASK,
    allow=reply_forms.PERMISSION_ALLOW,
    rewrite=reply_forms.UPDATED_INPUT,
    note=reply_forms.CONTEXT,
)
_TURN_END = Answers(deny=reply_forms.BLOCK)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    event_fields=("hook_event_name", "hookName"),
    nameless={"SubagentStart": frozenset({"agentName", "agent_id", "parent_agent_id"})},
    events={"userPromptSubmitted": "UserPromptSubmit", "agentStop": "Stop", "errorOccurred": "StopFailure"},
    fields={
        "session_id": ("session_id", "sessionId"),
        "transcript_path": ("transcript_path", "transcriptPath"),
        "tool_name": ("tool_name", "toolName"),
        "tool_input": ("tool_input", "toolArgs", "toolInput"),
        "tool_response": ("tool_result", "toolResult"),
        "stop_hook_active": ("stop_hook_active", "stopHookActive"),
        "stop_reason": ("stop_reason", "stopReason"),
        "agent_type": ("agent_type", "agent_name", "agentName"),
        "initial_prompt": ("initial_prompt", "initialPrompt"),
        "permission_suggestions": ("permissionSuggestions",),
    },
    values={"source": {"new": "startup"}},
    refine=_refine,
    response_text=("text_result_for_llm", "textResultForLlm"),
    mcp_name=("", "-"),
    tools={
        "bash": _SHELL,
        "Bash": _SHELL,
        "powershell": Tool("PowerShell"),
        "view": _READ,
        "Read": _READ,
        "create": _WRITE,
        "Write": _WRITE,
        "edit": _EDIT,
        "Edit": _EDIT,
        "grep": Tool("Grep"),
        "glob": Tool("Glob"),
        "web_fetch": Tool("WebFetch"),
        "task": _AGENT,
        "Agent": _AGENT,
        "Task": _AGENT,
    },
    answers={
        "PreToolUse": _PERMISSION,
        "preToolUse": Answers(
            deny=flat(permissionDecision="deny", permissionDecisionReason=Slot.REASON),
            ask=flat(permissionDecision="ask", permissionDecisionReason=Slot.REASON),
            allow=flat(permissionDecision="allow"),
            rewrite=flat(modifiedArgs=Slot.INPUT),
        ),
        "PermissionRequest": Answers(deny=flat(behavior="deny", message=Slot.REASON), allow=flat(behavior="allow")),
        "PostToolUse": Answers(deny=reply_forms.BLOCK, note=reply_forms.FLAT_CONTEXT, deny_replaces=True),
        "UserPromptSubmit": Answers(deny=reply_forms.BLOCK, note=reply_forms.FLAT_CONTEXT),
        "SessionStart": Answers(note=reply_forms.FLAT_CONTEXT),
        "Stop": _TURN_END,
        "SubagentStop": _TURN_END,
        "PostToolUseFailure": Answers(),
        "SubagentStart": Answers(),
        "PreCompact": Answers(),
        "SessionEnd": Answers(),
        "StopFailure": Answers(),
        "Notification": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# It reads every file of its hooks folder, so Snell has a file of its own.
INSTALL = Install(
    name=NAME,
    title="GitHub Copilot CLI",
    programs=("copilot",),
    base="~/.copilot",
    base_variable="COPILOT_HOME",
    folders=("{base}",),
    form=COPILOT_FILE,
    format="own file",
    # Claude's event names: Copilot CLI and VS Code both understand them.
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
    switches=(
        Switch(
            ("disableAllHooks",),
            True,
            (
                "/etc/github-copilot/policy.d/*.json",
                ".github/copilot/settings.local.json",
                ".github/copilot/settings.json",
                "{base}/settings.json",
                "{base}/config.json",
            ),
        ),
    ),
    mcp={"user": "{base}/mcp-config.json", "project": ".github/mcp.json"},
    mcp_entry={
        "type": "local",
        "command": Placeholder.PROGRAM,
        "args": Placeholder.ARGUMENTS,
        "tools": ["*"],
    },
    rules={"user": "{base}/copilot-instructions.md", "project": "AGENTS.md"},
    reads=("claude-code:project",),
    after=("start a new session",),
    remarks=("it also runs the hooks in a project's `.claude/settings.json`; a hook in both files runs once",),
)
