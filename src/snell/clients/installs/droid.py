"""Factory Droid: the map of events without the usual `hooks` around it, which it would accept and never run."""

from snell.model.installs import Install

INSTALL = Install(
    name="droid",
    title="Factory Droid",
    programs=("droid",),
    base="~/.factory",
    folders=("{base}",),
    form="bare_groups",
    hooks={"user": "{base}/hooks.json", "project": ".factory/hooks.json"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "Notification",
    ),
    matcher="*",
    mcp={"user": "{base}/mcp.json", "project": ".factory/mcp.json"},
    mcp_form="typed",
    rules={"user": "{base}/AGENTS.md", "project": "AGENTS.md"},
    after=("start a new session",),
)
