"""Crush: tool calls only."""

from snell.model.installs import Install

INSTALL = Install(
    name="crush",
    title="Crush",
    programs=("crush",),
    base="~/.config/crush",
    folders=("{base}",),
    form="crush",
    hooks={"user": "{base}/crush.json", "project": "crush.json", "local": ".crush.json"},
    events=("PreToolUse",),
    session_start=(),
    matcher=".*",
    mcp={"user": "{base}/crush.json", "project": "crush.json"},
    mcp_form="mcp",
    rules={"project": "AGENTS.md"},
    after=("start a new session",),
    remarks=("it runs no hooks inside its sub-agents",),
)
