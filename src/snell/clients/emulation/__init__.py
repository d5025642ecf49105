"""
Emulate a client for programs that were written as its hooks.

Such a program gets the events of every client in the form of its own client, and its answers are read as that client
reads them. An emulation is a module of this package with the name of its client, and one entry here.
"""

from importlib import import_module

from snell.model.protocols import ClientEmulation

EMULATIONS = ("codex", "copilot", "cursor", "gemini")


def emulation_for(written_for: str) -> ClientEmulation | None:
    """Return the emulation for `client:event`, with the client's own event name; imports only that client."""
    client, _, native = written_for.partition(":")
    if client not in EMULATIONS or not native:
        return None
    found: ClientEmulation = import_module(f"{__name__}.{client}").EMULATION(native)
    return found
