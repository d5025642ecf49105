"""
Find the folders of all clients for skills and agents: of the user, of a project, of plugins and extensions that are
enabled.

A folder that does not exist costs one look-up, so the folders of every client are tried, installed or not.
"""

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from snell.model.events import as_table
from snell.system.files import FileError, names_in, read_capped, stat_or_none

LARGEST = 2_000_000
MOST = 200
Kind = Literal["skills", "agents"]
KINDS: tuple[Kind, ...] = ("skills", "agents")


class _Places(msgspec.Struct, frozen=True):
    """The tables of `skill_places.json`. In each folder of a client, `skills` and `agents` are read."""

    user: dict[str, str]  # a client's own folder below the home folder, and the variable that moves it
    config: list[str]  # folders below XDG_CONFIG_HOME
    project: list[str]
    also: dict[Kind, dict[str, str]]  # further names, such as Roo's folders for single modes beside `skills`
    extensions: list[str]  # of clients with one folder for each extension
    manifests: list[str]  # of plugins


PLACES = msgspec.json.decode(Path(__file__).with_name("skill_places.json").read_bytes(), type=_Places)


def folders_for(
    home: str, project: str, more: Any = (), env: Mapping[str, str] | None = None, cwd: str = "", kind: Kind = "skills"
) -> list[str]:
    """Return all folders: those in the settings, the user's, then the project's, if it is trusted."""
    env = env or {}
    named = [os.path.expanduser(str(each)) for each in more] if isinstance(more, list) else []
    own = [folder for base, name in _user_bases(home, env) for folder in _folders_in(base, name, kind)]
    if kind == "skills" and (crush := env.get("CRUSH_SKILLS_DIR")):
        own.append(crush)
    plugins = (folder for root in _plugins(home, env, project) for folder in _folders_of_plugin(root, kind))
    return [*named, *own, *plugins, *_from_here_up(project, cwd, kind)]


def project_folders(project: str, kind: Kind = "skills") -> list[str]:
    """Return the folders in the root of a project."""
    return [folder for name in PLACES.project for folder in _folders_in(os.path.join(project, name), name, kind)]


def is_users_own(path: Path, home: str, env: Mapping[str, str]) -> bool:
    """Return whether a file is in one of the user's own folders, so that it needs no approval."""
    return any(path.is_relative_to(os.path.realpath(base)) for base, _ in _user_bases(home, env))


def project_with(path: Path) -> Path:
    """Return the root of the project that has this file in a folder of a client."""
    return next((folder.parent for folder in path.parents if folder.name in PLACES.project), path.parent)


def _user_bases(home: str, env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the user's own folder of each client, and the name that it has in the tables."""
    for folder, variable in PLACES.user.items():
        yield env.get(variable) or os.path.join(home, folder), folder
    config = env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    for folder in PLACES.config:
        yield os.path.join(config, folder), f".config/{folder}"
    if snell := env.get("SNELL_HOME"):
        yield os.path.join(snell, "config"), ""


def _from_here_up(project: str, cwd: str, kind: Kind) -> Iterator[str]:
    """Yield folders from the working directory up to the project's root: the nearest is the most specific."""
    if not project:
        return
    at = os.path.normpath(cwd or project)
    if not at.startswith(project.rstrip(os.sep) + os.sep):
        at = project
    while True:
        yield from project_folders(at, kind)
        if at == project:
            return
        at = os.path.dirname(at)


def _folders_in(base: str, name: str, kind: Kind) -> Iterator[str]:
    yield os.path.join(base, kind)
    also = PLACES.also[kind].get(name, "")
    if also.endswith("*"):
        yield from (os.path.join(base, each) for each in sorted(names_in(base)) if each.startswith(also[:-1]))
    elif also:
        yield os.path.join(base, also)


def _plugins(home: str, env: Mapping[str, str], project: str) -> Iterator[str]:
    """Yield the folders of all plugins that are active for a user, and in this project if it is trusted."""
    yield from _claude_plugins(env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"), project)
    yield from _codex_plugins(env.get("CODEX_HOME") or os.path.join(home, ".codex"))
    for place in PLACES.extensions:
        for root in _subfolders(os.path.join(home, place)):
            yield from (root, *_subfolders(root))


def _claude_plugins(claude: str, project: str) -> Iterator[str]:
    """Yield the plugins that Claude Code lists as installed and its settings do not disable."""
    installed = as_table(_read(os.path.join(claude, "plugins", "installed_plugins.json")).get("plugins"))
    if not installed:
        return
    enabled: dict[str, Any] = {}
    ours = [os.path.join(project, ".claude", name) for name in ("settings.json", "settings.local.json")]
    for path in (os.path.join(claude, "settings.json"), *(ours if project else ())):
        enabled |= as_table(_read(path).get("enabledPlugins"))
    for name, found in list(installed.items())[:MOST]:
        for each in found if isinstance(found, list) else [found]:
            row = as_table(each)
            elsewhere = row.get("projectPath") not in (None, "", project)
            if enabled.get(name) is not False and not elsewhere and isinstance(row.get("installPath"), str):
                yield row["installPath"]


def _codex_plugins(codex: str) -> Iterator[str]:
    """Yield the enabled plugins of Codex, which are stored by market, name and version."""
    config = _read(os.path.join(codex, "config.toml"), tomllib.loads)
    for name, row in list(as_table(config.get("plugins")).items())[:MOST]:
        plugin, at, market = name.partition("@")
        if at and as_table(row).get("enabled") is not False and not {"..", "."} & {plugin, market}:
            versions = _subfolders(os.path.join(codex, "plugins", "cache", market, plugin))
            yield from sorted(versions, key=lambda path: found.st_mtime if (found := stat_or_none(path)) else 0.0)[-1:]


def _folders_of_plugin(root: str, kind: Kind) -> Iterator[str]:
    """Yield `skills` or `agents`, and the folders that the plugin's manifest names; nothing outside the plugin."""
    yield os.path.join(root, kind)
    for manifest in PLACES.manifests:
        named = _read(os.path.join(root, manifest)).get(kind)
        for each in [named] if isinstance(named, str) else named if isinstance(named, list) else []:
            path = os.path.normpath(os.path.join(root, str(each)))
            if path.startswith(os.path.join(root, "")) or path == root:
                yield path


def _subfolders(folder: str) -> list[str]:
    return [path for name in sorted(names_in(folder))[:MOST] if os.path.isdir(path := os.path.join(folder, name))]


def _read(path: str, parse: Callable[[str], Any] | None = None) -> dict[str, Any]:
    try:
        return as_table((parse or json.loads)(read_capped(Path(path), LARGEST).decode("utf-8-sig", "replace")))
    except (OSError, FileError, ValueError, RecursionError):
        return {}
