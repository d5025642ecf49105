"""Has a file changed since it was looked at? A few `stat` calls, for hot reload."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

# File systems stamp times in steps. A file written twice within one step looks unchanged, so what was written
# just before we looked does not count as settled.
STEP = 50_000_000

Stamp = tuple[int, int, int, int, int]


class FileStamp(Struct, frozen=True):
    path: str
    stamp: Stamp | None = None  # None: there was no such file
    is_settled: bool = True


def watch_file(path: Path | str) -> FileStamp:
    stamp = stamp_of(path)
    return FileStamp(str(path), stamp, is_settled(stamp))


def have_changed(files: Iterable[FileStamp]) -> bool:
    """Whether one of the files is not what it was, or had been written too recently to tell."""
    look, is_there = os.stat, os.access
    for file in files:  # every event pays for this, so it is one plain loop
        stamp = file.stamp
        try:
            if stamp is None:  # most of them: it costs less to ask than to look and be refused
                if is_there(file.path, os.F_OK):
                    return True
                continue
            if not file.is_settled:
                return True
            now = look(file.path)
        except (OSError, ValueError):
            if stamp is not None:
                return True
            continue
        # What is changed without a trace in ctime can only be changed by setting the clock.
        if now.st_ctime_ns != stamp[1] or now.st_ino != stamp[3] or now.st_dev != stamp[4]:
            return True
    return False


def stamp_of(path: Path | str) -> Stamp | None:
    """What changes when a file does: its times, size, identity."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)


def is_settled(stamp: Stamp | None) -> bool:
    return stamp is None or abs(time.time_ns() - stamp[1]) > STEP
