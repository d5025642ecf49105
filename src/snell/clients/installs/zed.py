"""Zed's own agent: no hooks; it hosts other agents, which run theirs."""

from snell.model.installs import Install

INSTALL = Install(
    name="zed",
    title="Zed",
    programs=("zed", "zeditor"),
    base="~/.config/zed",
    folders=("{base}",),
    mcp={"user": "{base}/settings.json", "project": ".zed/settings.json"},
    mcp_form="context_servers",
    mcp_format="jsonc",
    rules={"project": "AGENTS.md"},
    after=("restart Zed",),
)
