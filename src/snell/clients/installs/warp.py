"""Warp: no hooks."""

from snell.model.installs import Install

INSTALL = Install(
    name="warp",
    title="Warp",
    programs=("warp-terminal", "warp"),
    base="~/.warp",
    folders=("{base}",),
    mcp={"user": "{base}/.mcp.json", "project": ".warp/.mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("restart Warp",),
)
