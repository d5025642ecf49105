"""Augment: groups as Claude Code has them, in milliseconds, and programs started without a shell."""

from snell.model.installs import Install

INSTALL = Install(
    name="augment",
    title="Augment",
    programs=("auggie",),
    base="~/.augment",
    folders=("{base}",),
    form="augment",
    format="jsonc",
    hooks={
        "user": "{base}/settings.json",
        "project": ".augment/settings.json",
        "local": ".augment/settings.local.json",
    },
    events=("SessionStart", "SessionEnd", "PromptSubmit", "PreToolUse", "PostToolUse", "Stop", "Notification"),
    matcher=".*",
    mcp={"user": "{base}/settings.json", "project": ".augment/settings.json"},
    mcp_format="jsonc",
    rules={"project": "AGENTS.md"},
    after=("start a new session",),
)
