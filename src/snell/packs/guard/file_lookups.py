"""
What judging looks at on the disk.

A judgement holds for as long as it would see the same again, so every look can be noted. What is more than a look, such
as reading git's index or following a link, is noted as something that cannot be looked up again cheaply.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MISSING, PLAIN, LINK = "missing", "plain", "link"
MOST_NOTED = 100


class Lookups:
    """The paths that were looked at, with what they were; `is_all` unless something else was asked, too."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self.is_all = True

    def holds(self) -> bool:
        """Is everything as it was?"""
        return all(_kind(path) == kind for path, kind in self.kinds.items())


class _Thread(threading.local):
    noted: Lookups | None = None


_thread = _Thread()  # judging is deep, and only one of its callers wants to know


@contextmanager
def record_lookups() -> Iterator[Lookups]:
    """Note what this thread looks at meanwhile."""
    noted = _thread.noted = Lookups()
    try:
        yield noted
    finally:
        _thread.noted = None


def path_kind(path: str) -> str:
    """Is there a link, something else, or nothing?"""
    kind = _kind(path)
    noted = _thread.noted
    if noted:
        noted.kinds[path] = kind
        noted.is_all = noted.is_all and kind != LINK and len(noted.kinds) <= MOST_NOTED
    return kind


def mark_unrepeatable() -> None:
    """More is read than a look can tell; a judgement that hangs on it is not one to keep."""
    if _thread.noted:
        _thread.noted.is_all = False


def _kind(path: str) -> str:
    try:
        return LINK if stat.S_ISLNK(os.lstat(path).st_mode) else PLAIN
    except (OSError, ValueError):
        return MISSING
