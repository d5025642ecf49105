"""Stamps of files: what a `stat` call returns, by which hot reload detects a change."""

import os
import time
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


def stamp_of(path: Path | str) -> Stamp | None:
    """Return the times, size and identity of a file, or None."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)


def is_settled(stamp: Stamp | None) -> bool:
    return stamp is None or abs(time.time_ns() - stamp[1]) > STEP
