"""Zed: no hooks. It is reached by MCP and by a rules file alone."""

from snell.clients.protocol.codec import without_hooks
from snell.model.protocols import Capabilities, Quirk

NAME = "zed"
TITLE = "Zed"
ALIASES = ("zed-editor",)
CAPABILITIES = Capabilities(
    hooks=False, native=False, deny=False, ask=False, rewrite=False, note=False, stop=False, prompt_block=False
)
QUIRKS = (Quirk("it hosts other agents, which then run their own hooks", "its documentation"),)

decode, encode, encode_failure = without_hooks(TITLE)
