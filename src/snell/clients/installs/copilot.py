"""GitHub Copilot CLI: every file of its hooks folder counts, so ours is a file of its own."""

from snell.model.installs import Install, Switch

INSTALL = Install(
    name="copilot",
    title="GitHub Copilot CLI",
    programs=("copilot",),
    base="~/.copilot",
    base_variable="COPILOT_HOME",
    folders=("{base}",),
    form="copilot",
    format="whole",
    # Claude's names: they serve the Copilot and the VS Code readers of these files alike.
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
    mcp_form="copilot",
    rules={"user": "{base}/copilot-instructions.md", "project": "AGENTS.md"},
    reads=("claude-code:project",),
    after=("start a new session",),
    remarks=("it also runs the hooks in a project's `.claude/settings.json`; what stands in both fires once",),
)
