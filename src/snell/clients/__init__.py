"""
The coding agents that Snell knows: one module each, listed in `CLIENTS`.

The module holds everything that Snell knows about one coding agent: how it reports events, which answers it takes,
where it keeps its configuration, and its quirks. Modules are imported by name, one at a time.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from snell.model.catalogue import canonical, nearest
from snell.model.errors import ClientError
from snell.model.protocols import Client

# The name of each client's module, and its aliases: they are here so that an alias is found without importing modules.
CLIENTS: Mapping[str, tuple[str, ...]] = {
    "antigravity": ("agy", "google-antigravity"),
    "augment": ("auggie", "augment-code"),
    "claude_code": ("claude", "claude-code", "claudecode"),
    "cline": ("cline-cli",),
    "codex": ("codex-cli", "openai-codex"),
    "copilot": ("copilot-cli", "github-copilot", "gh-copilot"),
    "crush": ("charm-crush",),
    "cursor": ("cursor-ide", "cursor-cli", "cursor-agent"),
    "droid": ("factory", "factory-droid"),
    "gemini": ("gemini-cli", "google-gemini"),
    "generic": (),
    "goose": ("goose-cli", "block-goose"),
    "grok": ("grok-build", "xai", "grok-cli"),
    "jetbrains_ai": ("jetbrains", "jetbrains-ai", "intellij"),
    "kimi": ("kimi-code", "kimi-cli"),
    "kiro": ("amazonq", "amazon-q", "q", "kiro-cli"),
    "opencode": ("open-code", "kilo", "kilo-cli"),
    "pi": ("pi-coding-agent",),
    "qwen": ("qwen-code", "qwencode"),
    "roo": ("roo-code", "roocode"),
    "vscode_copilot": ("vscode", "vs-code", "vscode-copilot", "visual-studio-code"),
    "warp": ("warp-terminal",),
    "windsurf": ("devin", "devin-desktop", "cascade", "codeium"),
    "zed": ("zed-editor",),
}
ALIASES: Mapping[str, str] = {alias: name for name, aliases in CLIENTS.items() for alias in aliases}


def client_names() -> tuple[str, ...]:
    """Return the names of all clients: Claude Code first, the generic one last."""
    return tuple(sorted(CLIENTS, key=lambda name: (name == "generic", name != "claude_code", name)))


def client_named(name: str) -> Client:
    """Import and return the client module of this name or alias. Raises ClientError for an unknown name."""
    wanted = canonical_name(name)
    if wanted not in CLIENTS:
        known = [each.replace("_", "-") for each in client_names()]
        near = nearest(name, (*known, *ALIASES))
        advice = f"did you mean `{near}`?" if near else f"known clients: {', '.join(known)}"
        raise ClientError(f"unknown client `{name}`", advice=advice)
    return cast(Client, import_module(f"{__name__}.{wanted}"))


def canonical_event(client: Client, event: str) -> str:
    """Return Snell's name for an event that a client names in its own way."""
    table = getattr(client, "TABLE", None)
    return (table.events.get(event) if table else "") or canonical(event)


def canonical_name(name: str) -> str:
    """Return a client's name for any spelling or alias of it; an unknown name is returned unchanged."""
    folded = _fold(name)
    return folded if folded in CLIENTS else _BY_FOLDED_ALIAS.get(folded, name)


def _fold(name: str) -> str:
    """Return the name in lower case, with `_` for blanks, dashes and underscores."""
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split())


_BY_FOLDED_ALIAS = {_fold(alias): name for alias, name in ALIASES.items()}
