"""Roo Code: no hooks. It is reached by MCP and by a rules file alone."""

from snell.clients.protocol.codec import without_hooks
from snell.model.protocols import Capabilities, Quirk

NAME = "roo"
TITLE = "Roo Code"
ALIASES = ("roo-code", "roocode")
CAPABILITIES = Capabilities(
    hooks=False, native=False, deny=False, ask=False, rewrite=False, note=False, stop=False, prompt_block=False
)
QUIRKS = (Quirk("it is at the end of its life and has no hooks", "reported"),)

decode, encode, encode_failure = without_hooks(TITLE)
