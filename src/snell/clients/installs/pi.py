"""Pi: hooks are extensions in its own language; ours is the smallest bridge to `snell-hook`. It has no MCP."""

from snell.model.installs import Install

INSTALL = Install(
    name="pi",
    title="Pi",
    programs=("pi",),
    base="~/.pi/agent",
    folders=("{base}",),
    form="bridge",
    format="whole",
    hooks={"user": "{base}/extensions/snell.ts", "project": ".pi/extensions/snell.ts"},
    events=(
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "PreCompact",
    ),
    rules={"user": "{base}/AGENTS.md", "project": "AGENTS.md"},
    after=("restart Pi",),
)
