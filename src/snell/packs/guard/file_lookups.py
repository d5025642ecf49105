"""
Record what judging looks at on the disk.

A judgement may be cached for as long as the same lookups would have the same results. Reading git's index or following
a link cannot be repeated cheaply, so such a judgement is not cached.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MISSING, PLAIN, LINK = "missing", "plain", "link"
MOST_LOOKUPS = 100


class Lookups:
    """The paths that were looked up, each with its kind; `are_complete` unless something else was read, too."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self.are_complete = True

    def are_current(self) -> bool:
        """Tell whether every path is still of the same kind."""
        return all(_kind(path) == kind for path, kind in self.kinds.items())


class _Thread(threading.local):
    def __init__(self) -> None:
        self.lookups: Lookups | None = None
        self.kinds: dict[str, str] = {}  # of the paths that were looked up for the line that is judged


_thread = _Thread()  # avoids an argument in every function between the cache and the lookup


@contextmanager
def record_lookups() -> Iterator[Lookups]:
    """Record the lookups of this thread until the block ends."""
    lookups = _thread.lookups = Lookups()
    try:
        yield lookups
    finally:
        _thread.lookups = None


def path_kind(path: str) -> str:
    """Return whether the path is a link, something else, or missing."""
    kinds, lookups = _thread.kinds, _thread.lookups
    kind = kinds.get(path)
    if kind is None:
        kind = kinds[path] = _kind(path)
    if lookups:
        lookups.kinds[path] = kind
        lookups.are_complete = lookups.are_complete and kind != LINK and len(lookups.kinds) <= MOST_LOOKUPS
    return kind


def forget_kinds() -> None:
    """Look at the disk again from here on: what was looked up for one line may be out of date for the next."""
    _thread.kinds = {}


def mark_unrepeatable() -> None:
    """Say that more is read than the kind of a path, so that the judgement is not cached."""
    if _thread.lookups:
        _thread.lookups.are_complete = False


def _kind(path: str) -> str:
    try:
        return LINK if stat.S_ISLNK(os.lstat(path).st_mode) else PLAIN
    except (OSError, ValueError):
        return MISSING
