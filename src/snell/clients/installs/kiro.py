"""Kiro and Amazon Q: every file of its hooks folder counts."""

from snell.model.installs import Install

INSTALL = Install(
    name="kiro",
    title="Kiro / Amazon Q",
    programs=("kiro", "kiro-cli"),
    base="~/.kiro",
    folders=("{base}",),
    form="kiro",
    format="whole",
    hooks={"user": "{base}/hooks/snell.json", "project": ".kiro/hooks/snell.json"},
    events=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
    matcher=".*",
    mcp={"user": "{base}/settings/mcp.json", "project": ".kiro/settings/mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("restart Kiro",),
    remarks=("Amazon Q reads hooks from its agent files only; add the same commands there by hand",),
)
