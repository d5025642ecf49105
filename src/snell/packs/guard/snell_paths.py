"""Find the folders of Snell's own files: those of this runtime, and those that the caller's environment names."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.model.context import Context
from snell.packs.guard.sensitive_files import matches
from snell.packs.guard.snell_program import NO_PROGRAM, Program, running_program

_NAMES = ("SNELL_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "PIPX_HOME", "UV_TOOL_DIR")
_TOOLS = {"PIPX_HOME": "/venvs/snell", "UV_TOOL_DIR": "/snell"}  # where these programs install Snell


class SnellPaths(Struct, frozen=True):
    folders: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()  # variables that a command may use for these folders
    program: Program = NO_PROGRAM
    asks_to_publish: bool = False  # the caller is known, and no build server

    def holds(self, path: str) -> bool:
        """Tell whether the path is in one of the folders, or is a parent folder or pattern that includes one."""
        inside, parents = beginnings(self.folders)  # several rules ask about every path
        bare = path.rstrip("/")
        if f"{path}/".startswith(inside) or (bare in parents and bare.count("/") > 1):
            return True
        return "*" in bare and len(bare) < 1_000 and any(matches(folder, bare) for folder in self.folders)


@lru_cache(maxsize=64)
def beginnings(folders: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the beginnings of paths inside of these folders, and the parents of those below `SNELL_HOME`."""
    parents = (folder.rpartition("/")[0] for folder in folders if folder.endswith(_PARTS))
    return tuple(f"{folder}/" for folder in folders), frozenset(parents)


_PARTS = ("/config", "/state", "/run")  # below `SNELL_HOME`
NO_SNELL_PATHS = SnellPaths()


def find_snell_paths(context: Context) -> SnellPaths:
    global _last  # every event asks, and the answer hardly ever changes
    look = context.env.get
    asked = (context.config, context.state, bool(look("CI")), *[look(name, "") for name in _NAMES])
    if _last[0] != asked:
        _last = (asked, _snell_paths(*asked))
    return _last[1]


_last: tuple[tuple[Any, ...], SnellPaths] = ((), NO_SNELL_PATHS)


@lru_cache(maxsize=64)
def _snell_paths(config: Path | None, state: Path | None, is_build_server: bool, *values: str) -> SnellPaths:
    named = zip(_NAMES, values, strict=True)
    env = tuple((name, value.rstrip("/")) for name, value in named if value.startswith("/"))
    folders = [str(folder) for folder in (config, state) if folder is not None]
    for name, value in env:
        if name not in _TOOLS:
            folders += [value + part for part in _PARTS] if name == "SNELL_HOME" else [f"{value}/snell"]
    tools = [value + _TOOLS[name] for name, value in env if name in _TOOLS]
    return SnellPaths(tuple(dict.fromkeys(folders)), env, running_program(*tools), not is_build_server)
