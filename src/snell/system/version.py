"""
The running version, whether this daemon should make way for a newer one or was removed, and which distributions there
are. These are read from directory names: `importlib.metadata` takes as long to import as half an interpreter start, and
the first event after a start would wait for it.
"""

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from snell.system.files import stat_or_none

# Seconds; installers remove the old files first, and a start in between would find an incomplete installation.
SETTLED = 5.0
NOT_MORE_OFTEN = 60.0  # seconds between two hand-overs: two installations must not replace each other all the time


@cache
def our_version() -> str:
    """Return the version of Snell that is installed; `0` if it is not."""
    if found := version_of("snell"):
        return found
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version("snell")
    except PackageNotFoundError:
        return "0"


def should_hand_over(build: str, run: Path) -> bool:
    """
    Return whether this daemon should end because a newer `snell-hook` has called; an older one is served as usual.

    Also stores the time, so that it happens at most once a minute.
    """
    if build == our_version() or numbers(build) <= numbers(our_version()):
        return False
    stamp = run / "handed-over"
    with contextlib.suppress(OSError):
        # A time in the future was written by a clock that was wrong.
        if 0 <= time.time() - os.stat(stamp).st_mtime < NOT_MORE_OFTEN:
            return False
    with contextlib.suppress(OSError):
        stamp.write_text(build, encoding="utf-8")
    return True


def numbers(build: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparing: `0.10.2` is newer than `0.9`."""
    return tuple(int(part) for part in re.findall(r"\d+", build.partition("+")[0])[:6])


def version_of(name: str) -> str:
    """Return the version of a distribution that is installed once; empty if names alone do not tell it."""
    found = {folder.rpartition("/")[2] for folder in _folders() if folder.rpartition("/")[2].startswith(f"{name}-")}
    versions = {each.removeprefix(f"{name}-").removesuffix(_ENDING) for each in found}
    return versions.pop() if len(versions) == 1 else ""


def any_declares(group: str) -> bool:
    """Whether a distribution may have entry points of this group, so that loading the metadata is worthwhile."""
    header = f"[{group}]".encode()
    for folder in _folders():
        try:
            with open(f"{folder}/entry_points.txt", "rb") as file:
                if header in file.read(1_000_000):
                    return True
        except OSError:
            continue
    return False


_ENDING = ".dist-info"


def _folders() -> Iterator[str]:
    for path in sys.path:
        if path.endswith((".zip", ".egg")):
            continue
        try:
            with os.scandir(path or ".") as entries:
                yield from [entry.path for entry in entries if entry.name.endswith((_ENDING, ".egg-info"))]
        except OSError:
            continue


class Installed:
    """Compares one file of the program with its state at the start of the process."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._identity = self._current()
        self._noticed: float | None = None

    def is_gone(self) -> bool:
        """Return whether the file was removed or replaced, long enough ago for the installer to have finished."""
        if self._current() == self._identity:
            self._noticed = None
            return False
        self._noticed = self._noticed or time.monotonic()
        return time.monotonic() - self._noticed >= SETTLED

    def _current(self) -> tuple[int, int] | None:
        found = stat_or_none(self._file)
        return (found.st_ino, found.st_mtime_ns) if found else None
