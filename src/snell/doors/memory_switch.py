"""
Whether sessions are remembered: what set-up asks, where the answer is written, and what is said about it.

Off until a person who was told what is kept, and where, says yes.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from snell.doors.person import asks_yes
from snell.machine.files import FileError, read_capped, write_atomically
from snell.machine.paths import Places, make_private
from snell.model.errors import SetupError
from snell.settings.complaints import WrongError
from snell.settings.edit_toml import with_value
from snell.settings.load import load
from snell.settings.locate import FOLDER

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


def asks(scope: str, where: Places, project: Path) -> bool | None:
    """Say what would be kept and where, and ask; None where nobody can be asked."""
    if not sys.stdin.isatty():
        return None
    whose = "the clients that are set up here, in every project" if scope == "user" else f"`{project}` only"
    print(
        "\nmemory: Snell can keep what a session decides and finds out, for the next sessions of the same project.\n"
        "  what    texts of tool calls and of the agent's messages that say something lasting; secrets are taken out\n"
        f"  where   `{where.state / 'memory'}`, then `{where.state / 'snell.db'}`: yours alone, and sent nowhere\n"
        f"  whose   {whose}\n"
        f"  later   the answer goes into `{file_for(scope, where, project)}`; `snell memory` shows and deletes"
    )
    return asks_yes("shall it?")


def switch(path: Path, *, on: bool) -> None:
    """Write the answer into a settings file and leave everything else in it as it is. Raises SetupError."""
    try:
        before = read_capped(path, LARGEST).decode("utf-8") if path.exists() else ""
        after = with_value(before, TABLE, "enabled", on)
        make_private(path.parent) if not path.parent.exists() else None
        if after != before:
            write_atomically(path, after.encode(), path.stat().st_mode & 0o777 if path.exists() else 0o600)
    except WrongError as error:
        raise SetupError(
            f"memory was not switched: {error.message}", where=f"`{path}` line {error.line}", advice=error.advice
        ) from None
    except (OSError, FileError, UnicodeDecodeError) as error:
        advice = f"write `enabled = {str(on).lower()}` under `[pack.remember]` there by hand"
        raise SetupError(f"memory was not switched: {error}", where=f"`{path}`", advice=advice) from None


def _said(where: Places, cwd: Path, env: Mapping[str, str]) -> Mapping[str, object]:
    found = (load(where, cwd, env).value("pack") or {}).get("remember", {})
    return found if isinstance(found, Mapping) else {}
