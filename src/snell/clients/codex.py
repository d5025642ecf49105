"""
OpenAI Codex CLI 0.166.0: Claude's events and fields, and few of Claude's answers.

One field that it does not know at an event invalidates the whole answer, and the tool runs. So every form has only the
fields that are known to work.
"""

from snell.clients.protocol import reply_forms
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import GROUPS
from snell.clients.protocol.table import Answers, ClientTable, Tool
from snell.model.events import Payload
from snell.model.installs import Install, Switch
from snell.model.protocols import Capabilities, Quirk

NAME = "codex"
TITLE = "Codex CLI"
CAPABILITIES = Capabilities(ask=False)
QUIRKS = (
    Quirk("an unknown field invalidates the whole answer, and the tool runs", "seen in 0.166.0"),
    Quirk("an ask, or an allow without a changed input, is a failed hook", "seen in 0.166.0"),
    Quirk("hooks that the user has not reviewed are silently skipped in `exec` mode", "seen in 0.166.0"),
    Quirk("exit code 2 with nothing on stderr does not block", "seen in 0.166.0"),
    Quirk("a subagent reports its prompt as the user's; it is a SubagentPrompt here", "seen in 0.166.0"),
    Quirk("SessionEnd has about one second", "seen in 0.166.0"),
    Quirk("an approval dialog takes no changed input", "read in its source"),
)


def _refine(name: str, payload: Payload) -> str:
    return "SubagentPrompt" if name == "UserPromptSubmit" and payload.get("agent_id") else name


def _adjust(_event: str, payload: Payload) -> Payload:
    """Rename the key `input` of a patch to `command`, unless both are given: then hooks see both."""
    given = payload.get("tool_input")
    if payload.get("tool_name") == "apply_patch" and isinstance(given, dict) and "command" not in given:
        payload["tool_input"] = {"command" if key == "input" else key: value for key, value in given.items()}
    return payload


_TURN_END = Answers(deny=reply_forms.BLOCK, stop=reply_forms.HALT, tell=reply_forms.MESSAGE)

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    refine=_refine,
    adjust=_adjust,
    mcp_name=("mcp__", "__"),
    tools={
        "exec_command": Tool("Bash", {"cmd": "command"}),
        "shell": Tool("Bash", is_argv=True),
        "shell_command": Tool("Bash"),
        "local_shell": Tool("Bash", is_argv=True),
        "apply_patch": Tool("Edit", {"command": "new_string"}, is_patch=True),
        "spawn_agent": Tool("Agent", {"message": "prompt"}),
        "update_plan": Tool("TodoWrite"),
        "web_search": Tool("WebSearch"),
    },
    answers={
        "PreToolUse": Answers(
            deny=reply_forms.PERMISSION_DENY,
            rewrite=reply_forms.ALLOWED_INPUT,
            note=reply_forms.CONTEXT,
            tell=reply_forms.MESSAGE,
        ),
        "PermissionRequest": Answers(
            deny=reply_forms.DIALOG_DENY, allow=reply_forms.DIALOG_ALLOW, tell=reply_forms.MESSAGE
        ),
        "PostToolUse": Answers(
            deny=reply_forms.BLOCK, note=reply_forms.CONTEXT, tell=reply_forms.MESSAGE, deny_replaces=True
        ),
        "UserPromptSubmit": Answers(
            deny=reply_forms.BLOCK, note=reply_forms.CONTEXT, stop=reply_forms.HALT, tell=reply_forms.MESSAGE
        ),
        "SessionStart": Answers(note=reply_forms.CONTEXT, tell=reply_forms.MESSAGE),
        "Stop": _TURN_END,
        "SubagentStop": _TURN_END,
        "SubagentStart": Answers(),
        "PreCompact": Answers(),
        "PostCompact": Answers(),
        "SessionEnd": Answers(),
    },
)

decode, encode, encode_failure = make_codec(TABLE)

# Claude's form in a file of its own. The user has to review every hook before it runs.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("codex",),
    base="~/.codex",
    base_variable="CODEX_HOME",
    folders=("{base}",),
    form=GROUPS,
    hooks={"user": "{base}/hooks.json", "project": ".codex/hooks.json"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
    ),
    matcher="*",
    # Hooks run in the login shell, and the user approves their exact text: it is short and never changes.
    ignores_missing=True,
    timeouts={"SessionEnd": 3},
    switches=(
        Switch(("allow_managed_hooks_only",), True, ("/etc/codex/requirements.toml",)),
        Switch(("features", "hooks"), False, (".codex/config.toml", "{base}/config.toml", "/etc/codex/config.toml")),
    ),
    mcp={"user": "{base}/config.toml", "project": ".codex/config.toml"},
    mcp_at=("mcp_servers",),
    mcp_format="toml",
    rules={"user": "{base}/AGENTS.md", "project": "AGENTS.md"},
    after=("open Codex and approve the hooks under /hooks; until then Codex silently skips them",),
)
