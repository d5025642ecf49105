"""
Whether sessions are remembered: what set-up asks, where the answer is written, and what is said about it.

Off until a person who was told what is kept, and where, says yes.
"""

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from snell.cli.confirmation import confirm
from snell.model.errors import SetupError
from snell.settings.load import load
from snell.settings.locate import FOLDER
from snell.settings.problems import InvalidValueError
from snell.setup.edit_toml import with_value
from snell.store import display_address
from snell.system.files import FileError, read_capped, write_atomically
from snell.system.paths import Places, make_private

LARGEST = 1_048_576
TABLE = "pack", "remember"


def is_answered(where: Places, env: Mapping[str, str], project: Path | None = None) -> bool:
    """Has the user, or this project where that is asked for, said yes or no?"""
    return "enabled" in _said(where, project or Path("/"), env)


def is_on(where: Places, cwd: Path, env: Mapping[str, str]) -> bool:
    """Is what happens in this folder captured?"""
    said = _said(where, cwd, env)
    return said.get("enabled") is True and said.get("capture", True) is True


def file_for(scope: str, where: Places, project: Path) -> Path:
    """The settings file in which the answer belongs."""
    names = {"project": "snell.toml", "local": "snell.local.toml"}
    return project / FOLDER / names[scope] if scope in names else where.config / "snell.toml"


def no_of(where: Places, cwd: Path, env: Mapping[str, str]) -> str:
    """The file whose no holds in this folder; empty where memory is on, or nobody has said anything."""
    if is_on(where, cwd, env):
        return ""
    return next(value.file for value in load(where, cwd, env).values if value.name == "pack")


def asks(scope: str, where: Places, project: Path, env: Mapping[str, str]) -> bool | None:
    """Say what would be kept and where, and ask; None where nobody can be asked."""
    if not sys.stdin.isatty():
        return None
    whose = "the clients that are set up here, in every project" if scope == "user" else f"`{project}` only"
    print(
        "\nmemory: Snell can keep what a session decides and finds out, for the next sessions of the same project.\n"
        "  what    texts of tool calls and of the agent's messages that say something lasting; secrets are taken out\n"
        f"  where   `{where.state / 'memory'}`, then `{where.state / 'snell.db'}`: {_sent_to(where, env)}\n"
        f"  whose   {whose}\n"
        f"  later   the answer goes into `{file_for(scope, where, project)}`; `snell memory` shows and deletes"
    )
    return confirm("shall it?")


def _sent_to(where: Places, env: Mapping[str, str]) -> str:
    """Who else gets what is kept. No project has a say in that, so the user's own settings tell all of it."""
    said, loaded = _said(where, Path("/"), env), load(where, Path("/"), env)
    found = []
    if said.get("embedding") == "endpoint" and said.get("endpoint"):
        found.append(f"each text and each question is sent to `{_host(str(said['endpoint']))}` for its vector")
    if said.get("share") is True and (server := loaded.value("database")):
        found.append(f"what is kept of projects with a remote is shared through `{display_address(str(server))}`")
    return f"yours, but {' and '.join(found)}, as your settings say" if found else "yours alone, and sent nowhere"


def _host(address: str) -> str:
    """Without a password that may stand in it."""
    return urlsplit(address).netloc.rpartition("@")[2] or "an endpoint"


def switch(path: Path, *, on: bool) -> None:
    """
    Write the answer into a settings file and leave everything else in it as it is. Raises SetupError.

    A yes is one to capturing, so a `capture = false` in the same file goes with it.
    """
    try:
        before = read_capped(path, LARGEST).decode("utf-8") if path.exists() else ""
        after = with_value(before, TABLE, "enabled", on)
        if on and tomllib.loads(after)["pack"]["remember"].get("capture") is False:
            after = with_value(after, TABLE, "capture", True)
        make_private(path.parent) if not path.parent.exists() else None
        if after != before:
            write_atomically(path, after.encode(), path.stat().st_mode & 0o777 if path.exists() else 0o600)
    except InvalidValueError as error:
        raise SetupError(
            f"memory was not switched: {error.message}", where=f"`{path}` line {error.line}", advice=error.advice
        ) from None
    except (OSError, FileError, UnicodeDecodeError) as error:
        advice = f"write `enabled = {str(on).lower()}` under `[pack.remember]` there by hand"
        raise SetupError(f"memory was not switched: {error}", where=f"`{path}`", advice=advice) from None


def _said(where: Places, cwd: Path, env: Mapping[str, str]) -> Mapping[str, object]:
    found = (load(where, cwd, env).value("pack") or {}).get("remember", {})
    return found if isinstance(found, Mapping) else {}
