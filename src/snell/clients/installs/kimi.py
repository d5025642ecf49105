"""Kimi Code: an array of tables with exactly four keys; a fifth one would void the whole section."""

from snell.model.installs import Install

INSTALL = Install(
    name="kimi",
    title="Kimi Code",
    programs=("kimi",),
    base="~/.kimi-code",
    base_variable="KIMI_CODE_HOME",
    folders=("{base}",),
    form="kimi",
    format="toml",
    hooks={"user": "{base}/config.toml"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionRequest",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
    ),
    matcher="",
    mcp={"user": "{base}/mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("start a new session",),
)
