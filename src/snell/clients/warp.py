"""Warp: no hooks. It is reached by MCP and by a rules file alone."""

from snell.clients.protocol.codec import without_hooks
from snell.model.protocols import Capabilities, Quirk

NAME = "warp"
TITLE = "Warp"
ALIASES = ("warp-terminal",)
CAPABILITIES = Capabilities(
    hooks=False, native=False, deny=False, ask=False, rewrite=False, note=False, stop=False, prompt_block=False
)
QUIRKS = (Quirk("it has no hooks", "its documentation"),)

decode, encode, encode_failure = without_hooks(TITLE)
