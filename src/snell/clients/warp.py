"""Warp: no hooks; Snell reaches it by MCP and a rules file only."""

from snell.clients.protocol.codec import without_hooks
from snell.model.installs import Install
from snell.model.protocols import Capabilities, Quirk

NAME = "warp"
TITLE = "Warp"
CAPABILITIES = Capabilities(
    hooks=False, native=False, deny=False, ask=False, rewrite=False, note=False, stop=False, prompt_block=False
)
QUIRKS = (Quirk("it has no hooks", "its documentation"),)

decode, encode, encode_failure = without_hooks(TITLE)

INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("warp-terminal", "warp"),
    base="~/.warp",
    folders=("{base}",),
    mcp={"user": "{base}/.mcp.json", "project": ".warp/.mcp.json"},
    rules={"project": "AGENTS.md"},
    after=("restart Warp",),
)
