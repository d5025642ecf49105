"""Clients: one module for each coding agent. This is the whole registry."""

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from snell.model.catalogue import canonical, nearest
from snell.model.errors import ClientError
from snell.model.protocols import Client

CLIENTS: Mapping[str, str] = {
    "antigravity": "snell.clients.antigravity",
    "augment": "snell.clients.augment",
    "claude_code": "snell.clients.claude_code",
    "cline": "snell.clients.cline",
    "codex": "snell.clients.codex",
    "copilot": "snell.clients.copilot",
    "crush": "snell.clients.crush",
    "cursor": "snell.clients.cursor",
    "droid": "snell.clients.droid",
    "gemini": "snell.clients.gemini",
    "generic": "snell.clients.generic",
    "goose": "snell.clients.goose",
    "grok": "snell.clients.grok",
    "jetbrains_ai": "snell.clients.jetbrains_ai",
    "kimi": "snell.clients.kimi",
    "kiro": "snell.clients.kiro",
    "opencode": "snell.clients.opencode",
    "pi": "snell.clients.pi",
    "qwen": "snell.clients.qwen",
    "roo": "snell.clients.roo",
    "vscode_copilot": "snell.clients.vscode_copilot",
    "warp": "snell.clients.warp",
    "windsurf": "snell.clients.windsurf",
    "zed": "snell.clients.zed",
}

# Here and not only in the modules, so that a name is found without loading them all; a test compares the two.
ALIASES: Mapping[str, str] = {
    alias: name
    for name, aliases in {
        "antigravity": "agy google-antigravity",
        "augment": "auggie augment-code",
        "claude_code": "claude claude-code claudecode",
        "cline": "cline-cli",
        "codex": "codex-cli openai-codex",
        "copilot": "copilot-cli github-copilot gh-copilot",
        "crush": "charm-crush",
        "cursor": "cursor-ide cursor-cli cursor-agent",
        "droid": "factory factory-droid",
        "gemini": "gemini-cli google-gemini",
        "goose": "goose-cli block-goose",
        "grok": "grok-build xai grok-cli",
        "jetbrains_ai": "jetbrains jetbrains-ai intellij",
        "kimi": "kimi-code kimi-cli",
        "kiro": "amazonq amazon-q q kiro-cli",
        "opencode": "open-code kilo kilo-cli",
        "pi": "pi-coding-agent",
        "qwen": "qwen-code qwencode",
        "roo": "roo-code roocode",
        "vscode_copilot": "vscode vs-code vscode-copilot visual-studio-code",
        "warp": "warp-terminal",
        "windsurf": "devin devin-desktop cascade codeium",
        "zed": "zed-editor",
    }.items()
    for alias in aliases.split()
}


def client_named(name: str) -> Client:
    """The client module of this name or alias; only that one is loaded."""
    wanted = own_name(name)
    if wanted not in CLIENTS:
        near = nearest(name, (*CLIENTS, *ALIASES))
        known = f"known are {', '.join(sorted(CLIENTS))}"
        raise ClientError(f"no client `{name}`", advice=f"did you mean `{near}`?" if near else known)
    return cast(Client, import_module(CLIENTS[wanted]))


def meaning_of(client: Client, event: str) -> str:
    """Return our name for an event that a client names in its own way."""
    dialect = getattr(client, "DIALECT", None)
    return (dialect.events.get(event) if dialect else "") or canonical(event)


def own_name(name: str) -> str:
    """How a client that somebody names, by whatever spelling or alias, is called in the journal."""
    folded = _folded(name)
    return folded if folded in CLIENTS else _BY_FOLDED.get(folded, name)


def _folded(name: str) -> str:
    """Letter case, spaces, dashes and underscores do not matter."""
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split())


_BY_FOLDED = {_folded(alias): name for alias, name in ALIASES.items()}
