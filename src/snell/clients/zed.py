"""Zed: no hooks; Snell reaches it by MCP and a rules file only."""

from snell.clients.protocol.codec import without_hooks
from snell.model.installs import Install
from snell.model.protocols import Capabilities, Quirk

NAME = "zed"
TITLE = "Zed"
CAPABILITIES = Capabilities(
    hooks=False, native=False, deny=False, ask=False, rewrite=False, note=False, stop=False, prompt_block=False
)
QUIRKS = (Quirk("it hosts other agents, which then run their own hooks", "its documentation"),)

decode, encode, encode_failure = without_hooks(TITLE)

INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("zed", "zeditor"),
    base="~/.config/zed",
    folders=("{base}",),
    mcp={"user": "{base}/settings.json", "project": ".zed/settings.json"},
    mcp_at=("context_servers",),
    mcp_format="jsonc",
    rules={"project": "AGENTS.md"},
    after=("restart Zed",),
)
