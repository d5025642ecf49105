"""Look up in git's index which files it tracks. No program runs for that."""

import os
from collections.abc import Iterator
from pathlib import Path

from snell.system.files import bytes_or_none, text_or_nothing

LARGEST, LONGEST_LINK = 32_000_000, 10_000
LONGEST_NAME, MOST_PLACES = 4_096, 200_000  # bytes, and places in an index that a name may begin at
_EXTENDED = 0x4000  # two more bytes of flags follow these, as for a file that is not in the work tree
_LENGTH = 0x0FFF  # length of a name, in the two bytes before it; longer names have this value


def tracks_below(folder: str, repository: str, index: bytes) -> bool:
    """Return whether git tracks at least one file below this folder."""
    name = folder.removeprefix(f"{repository.rstrip('/')}/").encode("utf-8", "surrogatepass") + b"/"
    return any(True for _ in _names(index, name))


def may_track(file: str) -> bool:
    """Return whether git tracks this file, in the nearest repository above; True if its index cannot be read."""
    for folder in Path(file).parents:
        if not os.path.lexists(folder / ".git"):
            continue
        git = _git_folder(str(folder))
        index, name = read_index(str(folder)), os.path.relpath(file, folder).encode("utf-8", "surrogatepass")
        is_complete = index and not any(Path(git).glob("sharedindex.*"))  # a split index has names in a second file
        return name in _names(index, name) if is_complete else os.path.exists(f"{git}/index")
    return False


def _names(index: bytes, beginning: bytes) -> Iterator[bytes]:
    """Yield the names in an index that begin like this, and `beginning` itself if git would not write such an index."""
    if index[4:8] == b"\0\0\0\4":
        yield from (name for name in _version_4_names(index, beginning) if name.startswith(beginning))
        return
    at, places = index.find(beginning), 0
    while at > 1 and (places := places + 1) < MOST_PLACES:
        end = index.find(b"\0", at, at + LONGEST_NAME)
        flags, earlier = (int.from_bytes(index[at - back : at - back + 2], "big") for back in (2, 4))
        lengths = {flags & _LENGTH, earlier & _LENGTH if earlier & _EXTENDED else -1}
        if min(end - at, _LENGTH) in lengths:  # a name begins here, and this is no part of another name
            yield index[at:end]
        at = index.find(beginning, at + 1)
    if at > 1:
        yield beginning


def _version_4_names(index: bytes, if_damaged: bytes) -> Iterator[bytes]:
    """Return the names in an index of version 4, where each omits the prefix it shares with the one before."""
    at, name = 12, b""
    for _ in range(int.from_bytes(index[8:12], "big")):
        at += 62 + 2 * (index[at + 60] >> 6 & 1 if at + 60 < len(index) else 0)
        cut, more = -1, True
        while more and at < len(index) and cut <= LONGEST_NAME:
            cut = (cut + 1 << 7) | index[at] & 0x7F
            more, at = index[at] > 0x7F, at + 1
        end = index.find(b"\0", at, at + LONGEST_NAME)
        if end < 0 or len(name) > LONGEST_NAME:
            yield if_damaged
            return
        name, at = name[: len(name) - cut] + index[at:end], end + 1
        yield name


def read_index(repository: str) -> bytes:
    """Return the index of a repository; empty if it cannot be read."""
    return bytes_or_none(Path(_git_folder(repository), "index"), LARGEST) or b""


def _git_folder(repository: str) -> str:
    git = f"{repository}/.git"
    linked = text_or_nothing(Path(git), LONGEST_LINK).partition("gitdir:")[2].strip()  # a linked work tree
    return os.path.join(repository, linked) if linked else git
