"""Qwen Code: Claude's form in its settings file; long time limits must look like seconds."""

from snell.model.installs import Install, Switch

_FILES = (".qwen/settings.json", "{base}/settings.json")

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
    switches=(Switch(("disableAllHooks",), True, _FILES), Switch(("hooksConfig", "enabled"), False, _FILES)),
    mcp={"user": "{base}/settings.json", "project": ".qwen/settings.json"},
    mcp_format="jsonc",
    rules={"user": "{base}/QWEN.md", "project": "AGENTS.md"},
    after=("start a new session",),
)
