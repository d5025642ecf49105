"""Look up what git knows of a folder: whether it tracks files there, and whether it can give all of them back."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from snell.packs.guard.file_lookups import mark_unrepeatable
from snell.system.git_readonly import gives_back

LIMIT = 0.2  # seconds for git's answers
LARGEST = 32_000_000
_LENGTH = 0x0FFF  # length of a name, in the two bytes before it; longer names have this value


def git_gives_back(folder: str) -> bool:
    """Tell whether deleting this folder loses nothing, because git has all of it."""
    mark_unrepeatable()
    return os.path.isdir(folder) and not os.path.islink(folder) and gives_back(folder, LIMIT)


def is_tracked(folder: str, project: str) -> bool:
    """Tell whether git tracks at least one file below this folder."""
    index = _index(project)
    name = folder.removeprefix(f"{project.rstrip('/')}/").encode("utf-8", "surrogatepass") + b"/"
    if index[4:8] == b"\0\0\0\4":
        return any(each.startswith(name) for each in _version_4_names(index))
    at = index.find(name)
    while at > 1:
        length = int.from_bytes(index[at - 2 : at], "big") & _LENGTH
        if length == min(index.find(b"\0", at) - at, _LENGTH):  # a name begins here; this is no part of another name
            return True
        at = index.find(name, at + 1)
    return False


def _version_4_names(index: bytes) -> Iterator[bytes]:
    """Return the names in an index of version 4, where each omits the prefix it shares with the one before."""
    at, name = 12, b""
    for _ in range(int.from_bytes(index[8:12], "big")):
        at += 62 + 2 * (index[at + 60] >> 6 & 1 if at + 60 < len(index) else 0)
        cut, more = 0, True
        while more and at < len(index):
            cut = (cut + 1 << 7 if cut else 0) | index[at] & 0x7F
            more, at = index[at] > 0x7F, at + 1
        end = index.find(b"\0", at)
        if end < 0:
            return
        name, at = name[: len(name) - cut] + index[at:end], end + 1
        yield name


def _index(project: str) -> bytes:
    known = mark_unrepeatable()
    if project not in known:  # it may be large, and a line may name many folders
        known[project] = _read_index(f"{project}/.git", project)
    return known[project]


def _read_index(git: str, project: str) -> bytes:
    try:
        if stat.S_ISREG(os.stat(git).st_mode):  # a linked work tree
            git = os.path.join(project, Path(git).read_text("utf-8").partition("gitdir:")[2].strip())
        with open(f"{git}/index", "rb") as index:
            return index.read() if os.fstat(index.fileno()).st_size <= LARGEST else b""
    except (OSError, ValueError):
        return b""
