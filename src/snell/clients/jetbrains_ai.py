"""JetBrains AI Assistant: no hooks. It is reached by MCP and by a rules file alone."""

from snell.clients.protocol.codec import without_hooks
from snell.model.protocols import Capabilities, Quirk

NAME = "jetbrains_ai"
TITLE = "JetBrains AI Assistant"
ALIASES = ("jetbrains", "jetbrains-ai", "intellij")
CAPABILITIES = Capabilities(
    hooks=False, native=False, deny=False, ask=False, rewrite=False, note=False, stop=False, prompt_block=False
)
QUIRKS = (Quirk("it has no hooks; Junie and Copilot inside the IDE are other programs", "reported"),)

decode, encode, encode_failure = without_hooks(TITLE)
