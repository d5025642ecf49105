"""OpenCode: hooks are plugins in its own language; ours is the smallest bridge to `snell-hook`."""

from snell.model.installs import Install

INSTALL = Install(
    name="opencode",
    title="OpenCode",
    programs=("opencode",),
    base="~/.config/opencode",
    folders=("{base}",),
    form="bridge",
    format="whole",
    hooks={"user": "{base}/plugins/snell.js", "project": ".opencode/plugins/snell.js"},
    events=("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact"),
    mcp={"user": "{base}/opencode.json", "project": "opencode.json"},
    mcp_form="opencode",
    mcp_format="jsonc",
    rules={"user": "{base}/AGENTS.md", "project": "AGENTS.md"},
    after=("restart OpenCode",),
)
