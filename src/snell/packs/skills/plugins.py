"""Find the skill folders of plugins and extensions that are installed and enabled."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snell.system.files import FileError, read_capped

LARGEST = 2_000_000
MOST = 200
MANIFESTS = (".claude-plugin/plugin.json", ".codex-plugin/plugin.json")
# Clients with one folder for each extension.
EXTENSIONS = (".gemini/extensions", ".qwen/extensions", ".copilot/installed-plugins", ".cursor/plugins/local")


def plugin_folders(home: str, env: Mapping[str, str], project: str) -> Iterator[str]:
    """Yield the skill folders of all plugins that are active for a user, and in this project if it is trusted."""
    claude = env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    for root in _claude_plugins(claude, project):
        yield from _skills_of(root)
    codex = env.get("CODEX_HOME") or os.path.join(home, ".codex")
    for root in _codex_plugins(codex):
        yield from _skills_of(root)
    for place in EXTENSIONS:
        for root in _subfolders(os.path.join(home, place)):
            yield from _skills_of(root)
            yield from (folder for each in _subfolders(root) for folder in _skills_of(each))


def _claude_plugins(claude: str, project: str) -> Iterator[str]:
    """Yield the plugins that Claude Code lists as installed and its settings do not disable."""
    installed = _table(_json(os.path.join(claude, "plugins", "installed_plugins.json")).get("plugins"))
    if not installed:
        return
    enabled: dict[str, Any] = {}
    ours = [os.path.join(project, ".claude", name) for name in ("settings.json", "settings.local.json")]
    for path in (os.path.join(claude, "settings.json"), *(ours if project else ())):
        enabled |= _table(_json(path).get("enabledPlugins"))
    for name, found in list(installed.items())[:MOST]:
        for each in found if isinstance(found, list) else [found]:
            row = _table(each)
            elsewhere = row.get("projectPath") not in (None, "", project)
            if enabled.get(name) is not False and not elsewhere and isinstance(row.get("installPath"), str):
                yield row["installPath"]


def _codex_plugins(codex: str) -> Iterator[str]:
    """Yield the enabled plugins of Codex, which are stored by market, name and version."""
    for name, row in list(_table(_toml(os.path.join(codex, "config.toml")).get("plugins")).items())[:MOST]:
        plugin, at, market = name.partition("@")
        if at and _table(row).get("enabled") is not False and not {"..", "."} & {plugin, market}:
            versions = _subfolders(os.path.join(codex, "plugins", "cache", market, plugin))
            newest = max(versions, key=_mtime, default="")
            yield from (newest,) if newest else ()


def _skills_of(root: str) -> Iterator[str]:
    """Yield `skills`, and the folders that the plugin's manifest names; nothing outside the plugin."""
    yield os.path.join(root, "skills")
    for manifest in MANIFESTS:
        named = _json(os.path.join(root, manifest)).get("skills")
        for each in [named] if isinstance(named, str) else named if isinstance(named, list) else []:
            path = os.path.normpath(os.path.join(root, str(each)))
            if path.startswith(os.path.join(root, "")) or path == root:
                yield path


def _subfolders(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))[:MOST]
    except OSError:
        return []
    return [path for name in names if os.path.isdir(path := os.path.join(folder, name))]


def _mtime(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _json(path: str) -> dict[str, Any]:
    try:
        return _table(json.loads(read_capped(Path(path), LARGEST)))
    except (OSError, FileError, ValueError, RecursionError):
        return {}


def _toml(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_capped(Path(path), LARGEST).decode("utf-8", "replace"))
    except (OSError, FileError, ValueError, RecursionError):
        return {}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
