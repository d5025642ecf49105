"""Clients: one module for each coding agent. This is the whole registry."""

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from snell.model.catalogue import nearest
from snell.model.errors import ClientError
from snell.model.ports import Client

CLIENTS: Mapping[str, str] = {
    "claude_code": "snell.clients.claude_code",
    "generic": "snell.clients.generic",
}

ALIASES: Mapping[str, str] = {
    "claude": "claude_code",
    "claude-code": "claude_code",
    "claudecode": "claude_code",
}


def client_named(name: str) -> Client:
    """The client module of this name or alias; only that one is loaded."""
    wanted = name.strip().lower()
    wanted = ALIASES.get(wanted, wanted)
    if wanted not in CLIENTS:
        near = nearest(wanted, (*CLIENTS, *ALIASES))
        known = f"known are {', '.join(sorted(CLIENTS))}"
        raise ClientError(f"no client `{name}`", advice=f"did you mean `{near}`?" if near else known)
    return cast(Client, import_module(CLIENTS[wanted]))
