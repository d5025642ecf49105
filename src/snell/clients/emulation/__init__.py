"""
Voices: a client the other way round.

A program that was written as a hook of one client is given every client's events as that one would report them, and
what it answers is read as that one would read it.
"""

from collections.abc import Mapping
from importlib import import_module

from snell.model.protocols import ClientEmulation

EMULATIONS: Mapping[str, str] = {
    "codex": "snell.clients.emulation.codex",
    "copilot": "snell.clients.emulation.copilot",
    "cursor": "snell.clients.emulation.cursor",
    "gemini": "snell.clients.emulation.gemini",
}


def emulation_for(written_for: str) -> ClientEmulation | None:
    """The voice for `client:event`, the event in that client's own spelling; only that client's module is loaded."""
    client, _, native = written_for.partition(":")
    if client not in EMULATIONS or not native:
        return None
    found: ClientEmulation = import_module(EMULATIONS[client]).SPEAKER(native)
    return found
