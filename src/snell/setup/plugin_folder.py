"""
Write a Claude Code plugin: manifest, hooks, a skill, and scripts that find Snell.

The plugin contains no path of this machine, so it can be shared. On a machine without Snell it says so once, and lets
every call pass.
"""

import json
import os
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from msgspec.structs import replace

from snell.clients import client_named
from snell.model.errors import SetupError
from snell.setup.plan import Options, planned_events
from snell.system.files import text_or_nothing, write_atomically
from snell.system.json_input import json_or_none

ROOT = "${CLAUDE_PLUGIN_ROOT}"
# A client that is also set up in its settings runs two commands; this argument tells them apart.
PLUGIN_ARGUMENT = "--plugin"
LARGEST = 1_000_000  # bytes of a manifest
COPIED = Path(__file__).parent / "plugin_files"  # as they are, with the line ends of their system


def plugin_files(options: Options | None = None, *, platform: str = sys.platform) -> dict[str, str]:
    """Return the plugin's files by name; `options` says whether it has worktree events and late calls."""
    copied = {path.relative_to(COPIED).as_posix(): path for path in sorted(COPIED.rglob("*")) if path.is_file()}
    texts = {name: path.read_text(encoding="utf-8") for name, path in copied.items()}
    return {
        ".claude-plugin/plugin.json": _json(_manifest()),
        "hooks/hooks.json": _json(_hooks(platform == "win32", options or Options())),
        **{name: text.replace("\n", "\r\n") if name.endswith(".cmd") else text for name, text in texts.items()},
    }


def write_plugin(folder: Path, files: Mapping[str, str]) -> None:
    """Write the plugin. Raises SetupError for a folder that holds something else."""
    if folder.exists() and not folder.is_dir():
        raise SetupError("is not a folder", where=f"`{folder}`", advice="choose another name")
    if folder.is_dir() and any(folder.iterdir()) and not _is_snell_plugin(folder / ".claude-plugin" / "plugin.json"):
        raise SetupError(
            "is not empty, and is not a Snell plugin", where=f"`{folder}`", advice="choose an empty folder"
        )
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode(), 0o755 if name.endswith(".sh") else 0o644)


def _is_snell_plugin(manifest: Path) -> bool:
    found = json_or_none(text_or_nothing(manifest, LARGEST))
    return isinstance(found, dict) and found.get("name") == _manifest()["name"]


def _manifest() -> dict[str, object]:
    return {
        "name": "snell",
        "version": version("snell"),
        "description": "Runs Snell's hooks: one set of guards and helpers for every coding agent.",
        "author": {"name": "Snell contributors"},
    }


def _hooks(is_windows: bool, options: Options) -> dict[str, object]:
    install = client_named("claude_code").install
    options = replace(options, session_start=options.session_start and not is_windows)  # it freezes terminals there
    script = f"{ROOT}\\scripts\\snell-hook.cmd" if is_windows else f"{ROOT}/scripts/snell-hook.sh"
    words = ["--client", "claude-code", PLUGIN_ARGUMENT]
    entry: dict[str, object] = {"type": "command", "command": script, "args": words}
    late = {**entry, "args": [*words, "--rewake"], "asyncRewake": True}
    hooks = {}
    for event in planned_events(install, options):
        limit = {"timeout": install.timeouts.get(event, install.timeout)}
        entries = [entry, late] if event in options.rewakes else [entry]
        hooks[event] = [{"hooks": [{**each, **limit}]} for each in entries]
    return {"description": "Sends every event to snell-hook, which asks Snell.", "hooks": hooks}


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + os.linesep.replace("\r\n", "\n")
