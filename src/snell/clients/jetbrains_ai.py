"""JetBrains AI Assistant: no hooks; Snell reaches it by MCP and a rules file only."""

from snell.clients.protocol.codec import without_hooks
from snell.model.installs import Install
from snell.model.protocols import Capabilities, Quirk

NAME = "jetbrains_ai"
TITLE = "JetBrains AI Assistant"
CAPABILITIES = Capabilities(
    hooks=False, native=False, deny=False, ask=False, rewrite=False, note=False, stop=False, prompt_block=False
)
QUIRKS = (Quirk("it has no hooks; Junie and Copilot inside the IDE are other programs", "reported"),)

decode, encode, encode_failure = without_hooks(TITLE)

# MCP servers can only be added in its settings dialog.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    folders=("~/.config/JetBrains",),
    rules={"project": "AGENTS.md"},
    after=("add the MCP server under Settings, Tools, AI Assistant, MCP: the command is `snell mcp`",),
)
