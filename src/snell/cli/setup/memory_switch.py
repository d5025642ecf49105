"""
Switch memory on or off: ask during set-up, and write the answer into a settings file.

Memory is off until a person who was told what is kept, and where, enables it.
"""

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from snell.cli.confirmation import confirm
from snell.cli.terminal import fit, near_home
from snell.cli.write_settings import write_settings
from snell.settings.load import load
from snell.settings.locate import FOLDER
from snell.setup.status import is_memory_on, remember_settings
from snell.store import display_address
from snell.system.paths import Places

TABLE = "pack", "remember"


def is_answered(where: Places, env: Mapping[str, str], project: Path | None = None) -> bool:
    """Return whether the settings of the user (or of this project) switch memory on or off."""
    return "enabled" in remember_settings(load(where, project or Path("/"), env))


def file_for(scope: str, where: Places, project: Path) -> Path:
    """Return the settings file for the answer at this scope."""
    names = {"project": "snell.toml", "local": "snell.local.toml"}
    return project / FOLDER / names[scope] if scope in names else where.config / "snell.toml"


def disabling_file(where: Places, cwd: Path, env: Mapping[str, str]) -> str:
    """Return the settings file that disables memory in this folder; empty if memory is on."""
    loaded = load(where, cwd, env)
    return "" if is_memory_on(loaded) else next(value.file for value in loaded.values if value.name == "pack")


def ask_to_enable(scope: str, where: Places, project: Path, env: Mapping[str, str]) -> bool | None:
    """Explain what would be kept and where, and ask; None without a terminal."""
    if not sys.stdin.isatty():
        return None
    whose = "all clients that are set up, in every project" if scope == "user" else f"`{project}` only"
    stored, settings = near_home(where.state), near_home(file_for(scope, where, project))
    print(
        "\n"
        + fit("memory: Snell can store decisions and findings of a session, for later sessions in the same project")
    )
    for name, text in {
        "what": "excerpts of tool calls and agent messages that are worth keeping; secrets are removed",
        "where": f"`{stored}/memory`, then `{stored}/snell.db`; {_recipients(where, env)}",
        "scope": whose,
        "tools": "Snell's MCP server is added to the clients' files; with it the agent recalls and remembers",
        "later": f"your answer is saved in `{settings}`; `snell memory list` and `snell memory forget` show and delete",
    }.items():
        print(fit(f"  {name:<7} {text}", 10))
    return confirm("Enable memory?")


def _recipients(where: Places, env: Mapping[str, str]) -> str:
    """Describe where memories are sent. Only the user's own settings decide that, never a project's."""
    loaded = load(where, Path("/"), env)
    settings = remember_settings(loaded)
    found = []
    if settings.get("embedding") == "endpoint" and settings.get("endpoint"):
        host = urlsplit(str(settings["endpoint"])).netloc.rpartition("@")[2] or "an endpoint"  # without a password
        found.append(f"texts and queries are sent to `{host}` for embedding")
    if settings.get("share") is True and (server := loaded.value("database")):
        found.append(f"memories of projects with a remote are shared through `{display_address(str(server))}`")
    return f"{' and '.join(found)}, as your settings say" if found else "only on this machine, sent nowhere"


def switch(path: Path, *, on: bool) -> None:
    """
    Write the switch into a settings file and keep the rest of the file unchanged. Raises SetupError.

    Switching memory on includes capturing, so a `capture = false` in the same file becomes true.
    """
    write_settings(path, TABLE, {"enabled": on})
    if on and tomllib.loads(path.read_text(encoding="utf-8"))["pack"]["remember"].get("capture") is False:
        write_settings(path, TABLE, {"capture": True})
