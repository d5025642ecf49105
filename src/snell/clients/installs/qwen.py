"""Qwen Code: Claude's form in its settings file; long time limits must look like seconds."""

from snell.model.installs import Install

INSTALL = Install(
    name="qwen",
    title="Qwen Code",
    programs=("qwen",),
    base="~/.qwen",
    folders=("{base}",),
    form="groups",
    format="jsonc",
    hooks={"user": "{base}/settings.json", "project": ".qwen/settings.json"},
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
        "PostCompact",
        "Notification",
        "StopFailure",
    ),
    matcher=".*",
    mcp={"user": "{base}/settings.json", "project": ".qwen/settings.json"},
    mcp_format="jsonc",
    rules={"user": "{base}/QWEN.md", "project": "AGENTS.md"},
    after=("start a new session",),
)
