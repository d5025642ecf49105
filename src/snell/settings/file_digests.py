"""Stamps of files, by which hot reload detects a change, and SHA-256 digests of files and definitions."""

import hashlib
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from snell.system.files import FileError, Stamp, read_capped, stamp_of

# File systems have times in steps. A file that is written twice within one step looks unchanged, so a file that was
# written just before its stamp was taken is not settled.
STEP = 50_000_000


class FileStamp(Struct, frozen=True):
    path: str
    stamp: Stamp | None = None  # None: the file did not exist
    is_settled: bool = True


def watch_file(path: Path | str) -> FileStamp:
    stamp = stamp_of(path)
    return FileStamp(str(path), stamp, is_settled(stamp))


def is_settled(stamp: Stamp | None) -> bool:
    return stamp is None or abs(time.time_ns() - stamp[1]) > STEP


def have_changed(files: Iterable[FileStamp]) -> bool:
    """Return whether one of the files has changed, or was written too recently to tell."""
    stat, access = os.stat, os.access
    for file in files:  # this runs for every event, so it is one plain loop
        stamp = file.stamp
        try:
            if stamp is None:  # most files: `access` costs less than a failing `stat`
                if access(file.path, os.F_OK):
                    return True
                continue
            if not file.is_settled:
                return True
            now = stat(file.path)
        except (OSError, ValueError):
            if stamp is not None:
                return True
            continue
        # A change that leaves ctime as it was is only possible by setting the clock.
        if now.st_ctime_ns != stamp[1] or now.st_ino != stamp[3] or now.st_dev != stamp[4]:
            return True
    return False


LONGEST_PINNED = 64 * 1024 * 1024
FILES = 2_048  # size of the cache; the files that were used last stay


T = TypeVar("T")


def digest_of(value: Any) -> str:
    """Return the digest of canonical JSON: equal definitions have equal digests, however they are written."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class FileDigests:
    """A cache of digests by path. With one for all loads, loading settings again costs a few `stat` calls."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Stamp, str]] = {}
        self._seen: dict[str, FileStamp] = {}

    def of(self, path: str) -> str:
        """Return the digest of a file's bytes, or a reason in angle brackets, which no digest equals."""
        stamp = stamp_of(path)
        _put(self._seen, path, FileStamp(path, stamp, is_settled(stamp)))
        known = self._known.get(path)
        if known and known[0] == stamp:
            _put(self._known, path, known)
            return known[1]
        try:
            found = hashlib.sha256(read_capped(Path(path), LONGEST_PINNED)).hexdigest()
        except FileError:
            return "<too long>"
        except (OSError, ValueError):
            return "<unreadable>"
        if stamp and is_settled(stamp) and stamp_of(path) == stamp:
            _put(self._known, path, (stamp, found))
        return found

    def stamp(self, path: str) -> FileStamp:
        """Return the state of the file just before its digest was computed, so that a later change is noticed."""
        return self._seen.get(path) or watch_file(path)


def _put(cache: dict[str, T], path: str, value: T) -> None:
    """Put the value last, and drop the first one when there are too many."""
    cache.pop(path, None)
    cache[path] = value
    if len(cache) > FILES:
        del cache[next(iter(cache))]
