"""Claude Code: hooks in its settings, started without a shell; status line and file suggestion beside them."""

from snell.model.installs import Install, Switch

_MANAGED = tuple(
    f"{folder}/{name}"
    for folder in ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
    for name in ("managed-settings.d/*.json", "managed-settings.json")
)

INSTALL = Install(
    name="claude_code",
    title="Claude Code",
    programs=("claude",),
    base="~/.claude",
    base_variable="CLAUDE_CONFIG_DIR",
    folders=("{base}",),
    form="exec_groups",
    hooks={
        "user": "{base}/settings.json",
        "project": ".claude/settings.json",
        "local": ".claude/settings.local.json",
    },
    # WorktreeCreate and WorktreeRemove come only with a hook that makes worktrees: an entry would replace git's own.
    events=(
        "PreToolUse",
        "PermissionRequest",
        "PermissionDenied",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "SessionStart",
        "SessionEnd",
        "Setup",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "PreModelSwitch",
        "PostModelSwitch",
        "Notification",
        "MessageDisplay",
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
        "Elicitation",
        "ElicitationResult",
        "ConfigChange",
        "InstructionsLoaded",
        "CwdChanged",
        "FileChanged",
        "DirectoryAdded",
    ),
    timeouts={"SessionEnd": 10, "MessageDisplay": 10},
    switches=(
        Switch(
            ("disableAllHooks",),
            True,
            (*_MANAGED, ".claude/settings.local.json", ".claude/settings.json", "{base}/settings.json"),
        ),
        Switch(("allowManagedHooksOnly",), True, _MANAGED),
    ),
    mcp={"user": "~/.claude.json", "project": ".mcp.json"},
    mcp_form="typed",
    rules={"user": "{base}/CLAUDE.md", "project": "CLAUDE.md"},
    status_line={"user": "{base}/settings.json"},
    after=("start a new session; in a new folder, accept its trust dialog",),
)
