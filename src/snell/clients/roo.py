"""Roo Code: no hooks. It is reached by MCP and by a rules file alone."""

from snell.clients.protocol.codec import without_hooks
from snell.model.installs import Install
from snell.model.protocols import Capabilities, Quirk

NAME = "roo"
TITLE = "Roo Code"
CAPABILITIES = Capabilities(
    hooks=False, native=False, deny=False, ask=False, rewrite=False, note=False, stop=False, prompt_block=False
)
QUIRKS = (Quirk("it is at the end of its life and has no hooks", "reported"),)

decode, encode, encode_failure = without_hooks(TITLE)

# no hooks, and at the end of its life.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    folders=("~/.roo",),
    mcp={"project": ".roo/mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("reload the editor's window",),
)
