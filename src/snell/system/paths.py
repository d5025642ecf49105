"""The directories in which Snell keeps its files."""

import os
import pwd
from collections.abc import Mapping, MutableMapping
from pathlib import Path

import msgspec

from snell.model.errors import SnellError

POLICY_FILE = Path("/etc/snell/policy.toml")
HOMES = "homes"  # in the usual state folder
LONGEST_RUN = 103 - len("/snell.sock")  # bytes; the limit of macOS for the path of a socket


class PlaceError(SnellError):
    """A directory that cannot be used as it is."""

    id = "place"


class HomeInProjectError(PlaceError):
    """SNELL_HOME is inside a project, which then could bring settings as if they were the user's own."""


class Places(msgspec.Struct, frozen=True):
    config: Path
    state: Path
    run: Path


def places(env: Mapping[str, str]) -> Places:
    """Return `SNELL_HOME/{config,state,run}` when that is set, else the XDG directories."""
    home = env.get("SNELL_HOME")
    if home:
        base = _absolute("SNELL_HOME", home)
        if (project := _project_around(base, env)) and os.path.realpath(base) not in approved_homes(env):
            message = f"SNELL_HOME is `{base}`, inside the project `{project}`, so it is not used as your own"
            advice = "choose a folder outside, or approve this one with `snell trust` in your own terminal"
            raise HomeInProjectError(message, advice=advice)
        return Places(config=base / "config", state=base / "state", run=_run_folder(base / "run"))
    return _usual(env)


def _usual(env: Mapping[str, str]) -> Places:
    state = _xdg(env, "XDG_STATE_HOME", ".local/state")
    # Not XDG_RUNTIME_DIR: some callers have it and some, such as cron, do not. One state has one daemon.
    return Places(config=_xdg(env, "XDG_CONFIG_HOME", ".config"), state=state, run=_run_folder(state / "run"))


def _run_folder(run: Path) -> Path:
    """Return the folder for socket and locks: another one if its path is too long, or it cannot be made."""
    name = os.fsencode(run)
    if len(name) <= LONGEST_RUN and can_be_made(run):
        return run
    digest = 14695981039346656037
    for byte in name:
        digest = (digest ^ byte) * 1099511628211 & (1 << 64) - 1  # FNV-1a, as in snell-hook
    return Path(f"/tmp/snell-{os.geteuid()}-{digest:016x}")


def working_folder() -> str:
    """Return the folder of this process; empty if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def can_be_made(folder: Path) -> bool:
    """Return whether files can be created in a folder, which may have to be created itself."""
    nearest = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
    return os.access(nearest, os.W_OK) and (nearest == folder or has_room(nearest))


def has_room(path: Path) -> bool:
    """Return whether the disk that a file or folder is on has room, or does not say."""
    disk = os.statvfs(path)
    return disk.f_bavail > 0 or not disk.f_blocks


def drop_unusable_homes(env: MutableMapping[str, str]) -> str:
    """Replace HOME and SNELL_HOME if an event cannot be decided with them; return why, or an empty text."""
    why = []
    if not os.path.isabs(env.get("HOME") or os.sep):
        why.append(f"HOME is `{env['HOME']}`, which is not an absolute path")
        env["HOME"] = _home_by_user()
    try:
        places(env)
    except PlaceError as error:
        why += [error.message] if env.pop("SNELL_HOME", "") else []
    return "; ".join([*why, "your usual settings are used"]) if why else ""


_VERSIONS, _CLIENTS = (".git", ".hg", ".svn", ".jj"), (".claude", ".cursor", ".codex", ".gemini", ".vscode", ".envrc")
_PROJECT_MARKS = (*_VERSIONS, *_CLIENTS, ".snell")


def _project_around(base: Path, env: Mapping[str, str]) -> Path | None:
    """Return the folder itself, or the nearest above, that looks like a project; a home directory is none."""
    homes, real = {env.get("HOME", ""), _home_by_user()}, Path(os.path.realpath(base))
    for folder in (base, *base.parents, real, *real.parents):
        if str(folder) not in homes and any(os.path.lexists(folder / name) for name in _PROJECT_MARKS):
            return folder
    return None


def approved_homes(env: Mapping[str, str]) -> list[str]:
    """Return the folders inside of projects that a person approved as SNELL_HOME."""
    try:
        return (_usual(env).state / HOMES).read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return []


def approve_home(env: Mapping[str, str]) -> None:
    """Store that the folder in SNELL_HOME is the user's own."""
    usual = _usual(env)
    make_private(usual.state)
    with (usual.state / HOMES).open("a", encoding="utf-8") as file:
        file.write(f"{os.path.realpath(env['SNELL_HOME'])}\n")


def make_private(path: Path) -> None:
    """Create a directory, with parents, that only its owner can enter; refuse one that another user could own."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _refusal(path) or error from None
    try:
        if (owner := os.fstat(descriptor).st_uid) != os.geteuid():
            advice = "remove it, or set SNELL_HOME to a directory of your own"
            raise PlaceError(f"belongs to another user (uid {owner})", where=f"`{path}`", advice=advice)
        # Checked and changed through one descriptor, so it cannot be swapped in between.
        os.fchmod(descriptor, 0o700)
    finally:
        os.close(descriptor)


def _refusal(path: Path) -> PlaceError | None:
    if path.is_symlink():
        advice = "remove the link, or set SNELL_HOME to the directory it points to"
        return PlaceError("is a symbolic link, which others could redirect", where=f"`{path}`", advice=advice)
    if path.exists() and not path.is_dir():
        return PlaceError("is not a directory", where=f"`{path}`", advice="move it away")
    return None


def _xdg(env: Mapping[str, str], variable: str, usual: str) -> Path:
    """Return Snell's directory below an XDG one; a relative value is ignored, as the standard says."""
    chosen = env.get(variable, "")
    base = Path(chosen) if os.path.isabs(chosen) else home_directory(env) / usual
    return base / "snell"


def home_directory(env: Mapping[str, str]) -> Path:
    """Return the user's home: HOME, else the system's entry for the user."""
    home = env.get("HOME")
    if home:
        return _absolute("HOME", home)
    if found := _home_by_user():
        return Path(found)
    raise PlaceError("the home directory is unknown", advice="set HOME or SNELL_HOME")


def _home_by_user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""


def _absolute(variable: str, value: str) -> Path:
    if os.path.isabs(value) and not value.startswith("/proc/"):  # there it means another folder in each process
        return Path(value)
    raise PlaceError(f"{variable} is `{value}`, which is not an absolute path", advice="give the full path")
