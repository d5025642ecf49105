"""Roo Code: no hooks; Snell reaches it by MCP and a rules file only."""

from snell.clients.protocol.codec import without_hooks
from snell.model.installs import Install
from snell.model.protocols import Capabilities, Quirk

NAME = "roo"
TITLE = "Roo Code"
CAPABILITIES = Capabilities(
    hooks=False, native=False, deny=False, ask=False, rewrite=False, note=False, stop=False, prompt_block=False
)
QUIRKS = (Quirk("it is discontinued, and has no hooks", "reported"),)

decode, encode, encode_failure = without_hooks(TITLE)

INSTALL = Install(
    name=NAME,
    title=TITLE,
    folders=("~/.roo",),
    mcp={"project": ".roo/mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("reload the editor's window",),
)
