"""Detect changed files by a few `stat` calls, for hot reload."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

# File systems have times in steps. A file that is written twice within one step looks unchanged, so a file that was
# written just before its stamp was taken is not settled.
STEP = 50_000_000

Stamp = tuple[int, int, int, int, int]


class FileStamp(Struct, frozen=True):
    path: str
    stamp: Stamp | None = None  # None: the file did not exist
    is_settled: bool = True


def watch_file(path: Path | str) -> FileStamp:
    stamp = stamp_of(path)
    return FileStamp(str(path), stamp, is_settled(stamp))


def have_changed(files: Iterable[FileStamp]) -> bool:
    """Whether one of the files has changed, or was written too recently to tell."""
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


def stamp_of(path: Path | str) -> Stamp | None:
    """Return the times, size and identity of a file, or None."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)


def is_settled(stamp: Stamp | None) -> bool:
    return stamp is None or abs(time.time_ns() - stamp[1]) > STEP
