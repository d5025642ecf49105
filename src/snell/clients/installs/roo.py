"""Roo Code: no hooks, and at the end of its life."""

from snell.model.installs import Install

INSTALL = Install(
    name="roo",
    title="Roo Code",
    folders=("~/.roo",),
    mcp={"project": ".roo/mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("reload the editor's window",),
)
