"""JetBrains AI Assistant: no hooks; MCP servers are added in its settings dialog."""

from snell.model.installs import Install

INSTALL = Install(
    name="jetbrains_ai",
    title="JetBrains AI Assistant",
    folders=("~/.config/JetBrains",),
    rules={"project": "AGENTS.md"},
    after=("add the MCP server under Settings, Tools, AI Assistant, MCP: the command is `snell mcp`",),
)
