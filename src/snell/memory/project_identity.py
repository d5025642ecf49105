"""Identify the project of a folder, for memories: by its repository's remote, else by the folder itself."""

import os
import re
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from snell.system.files import Stamp, stamp_of, text_or_nothing

LARGEST = 256_000
DEEPEST = 64
_SCP = re.compile(r"(?:[\w.+-]+@)?([\w.-]+):(?!//)(.+)\Z")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^@/]*@)?([^/:]+|\[[^\]]+\])(?::(\d+))?/+(.+)\Z", re.IGNORECASE)
_DEFAULT_PORTS = {"22", "80", "443", "9418"}


class Checkout(Struct, frozen=True):
    """One repository on this machine: its permanent identity, its path, and its project's name."""

    repository: str
    root: str
    project: str

    @property
    def earlier_name(self) -> str:
        """The project's name before its repository had a remote; empty if that is still its name."""
        return "" if self.project == self.root else self.root


def project_of(folder: str) -> str:
    """Return `host/owner/name` of the remote; without one, the real path of the repository or of the folder."""
    root, _, remote = _locate(folder)
    return remote or root


def checkout_of(folder: str) -> Checkout:
    """Return the repository of a folder, by what stays when its remote or its path changes; unknown without one."""
    root, config, remote = _locate(folder)
    if not root:
        return Checkout("", "", "")
    try:
        # git writes this file only when it creates a repository. So a new repository at an old path, or with a reused
        # inode, is another one.
        made = os.stat(config.parent / "description").st_mtime_ns
        return Checkout(f"{os.stat(config.parent).st_ino}:{made}", root, remote or root)
    except OSError:
        return Checkout("", root, remote or root)


def _locate(folder: str) -> tuple[str, Path, str]:
    """Return the root of the folder's repository, its configuration, and the remote's name; empty if it is no path."""
    if not folder or not os.path.isabs(folder) or "\0" in folder:
        return "", Path(), ""
    root, config = _repository(Path(os.path.realpath(folder)))
    stamp = stamp_of(config)
    return str(root), config, _remote_name(str(config), stamp) if stamp else ""


def shared_name(folder: str) -> str:
    """
    Return the team's name of the project in this folder: the remote plus the path in it; else the local path.

    A linked worktree has its local path: beside the repository's own checkout it is a second one.
    """
    real = Path(os.path.realpath(folder))
    root, config = _repository(real)
    name = _remote_name(str(config), stamp) if (stamp := stamp_of(config)) else ""
    if not name or config.parent != root / ".git" or not real.is_relative_to(root):
        return folder
    return os.path.normpath(f"{name}/{real.relative_to(root).as_posix()}")


def _repository(folder: Path) -> tuple[Path, Path]:
    """Return the root of the repository and its configuration file; the folder itself if there is none."""
    for place in (folder, *folder.parents[:DEEPEST]):
        git = place / ".git"
        if git.is_dir():
            return place, git / "config"
        if git.is_file():
            config = _worktree_config(git)
            # All worktrees of a repository are one project.
            return config.parent.parent if config.parent.name == ".git" else place, config
    return folder, folder / ".git" / "config"


def _worktree_config(git: Path) -> Path:
    """Return the configuration of a worktree, which names the repository's own folder in a file."""
    text = text_or_nothing(git, LARGEST).partition("gitdir:")[2].strip()
    place = git.parent / text if text else git
    common = text_or_nothing(place / "commondir", LARGEST).strip()
    return Path(os.path.realpath(place / common if common else place)) / "config"


@lru_cache(maxsize=256)
def _remote_name(config: str, _stamp: Stamp) -> str:
    return project_of_remote(origin_in(text_or_nothing(Path(config), LARGEST)))


def project_of_remote(url: str) -> str:
    """
    Return `host/owner/name` from any notation of a repository's address; empty when it has no host.

    The user, a default port, `.git`, a slash at the end and the case are ignored.
    """
    url = url.strip()
    if match := _URL.match(url):
        host, port, path = match.groups()
    elif (match := _SCP.match(url)) and len(match.group(1)) > 1:  # one letter is a drive
        host, path = match.groups()
        port = None
    else:
        return ""
    place = f"{host}:{port}" if port and port not in _DEFAULT_PORTS else host
    path = path.split("?")[0].split("#")[0].strip("/").removesuffix(".git").strip("/")
    return re.sub(r"/+", "/", f"{place}/{path.removeprefix('~/')}").lower() if path else ""


def origin_in(config: str) -> str:
    """Return the address of `origin` in the text of a git configuration, else of the first remote."""
    found: dict[str, str] = {}
    remote = ""
    for line in config.splitlines():
        if heading := re.match(r'\s*\[remote "([^"]+)"\]', line):
            remote = heading.group(1)
        elif line.lstrip().startswith("["):
            remote = ""
        elif remote and (value := re.match(r"\s*url\s*=\s*(\S+)", line)):
            found.setdefault(remote, value.group(1))
    return found.get("origin") or next(iter(found.values()), "")
