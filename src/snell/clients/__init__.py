"""
The coding agents that Snell knows: one file each, listed in `CLIENTS`.

`<name>.toml` holds everything that Snell knows about one coding agent: how it reports events, which answers it takes,
where it keeps its configuration, and its quirks. A few clients also have a Python module, for what a table cannot
express. Files are read by name, one at a time.
"""

from collections.abc import Mapping
from importlib import import_module

from snell.model.catalogue import canonical, did_you_mean, fold_name
from snell.model.errors import ClientError
from snell.model.protocols import Client

# The name of each client's file, and its aliases: they are here so that an alias is found without reading files.
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
    """Return the client of this name or alias. Raises ClientError for an unknown name."""
    wanted = canonical_name(name)
    if wanted not in CLIENTS:
        known = [each.replace("_", "-") for each in client_names()]
        advice = did_you_mean(name, known, did_you_mean(name, ALIASES, f"known clients: {', '.join(known)}"))
        raise ClientError(f"unknown client `{name}`", advice=advice)
    if wanted not in _IN_PYTHON:
        from snell.clients.protocol.client_file import read_client  # Claude Code's events do not need it

        return read_client(wanted)
    client: Client = import_module(f"{__name__}.{wanted}").CLIENT
    return client


def canonical_event(client: Client, event: str) -> str:
    """Return Snell's name for an event that a client names in its own way."""
    return (client.table.events.get(event) if client.table else "") or canonical(event)


def canonical_name(name: str) -> str:
    """Return a client's name for any spelling or alias of it; an unknown name is returned unchanged."""
    return _BY_FOLDED_NAME.get(fold_name("".join(name.split())), name)


_IN_PYTHON = ("claude_code", "generic")  # no table can express their answers
_BY_FOLDED_NAME = {fold_name(each): name for name, aliases in CLIENTS.items() for each in (name, *aliases)}
