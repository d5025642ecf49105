"""
Committed rows that are not in the database yet.

A line in a file that is mapped into memory costs no system call, and survives the end of this process as well as a
transaction does: the pages belong to the kernel.
Each process has a file of its own and holds its lock while it runs, so that the next reader of the journal can tell an
orphaned file from one that is in use. A row that is in a file twice, or in the database already, counts once.
"""

import contextlib
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from snell.model.errors import SnellError
from snell.records.decisions import Row
from snell.system.files import FileError, read_capped, try_lock
from snell.system.paths import make_private

FOLDER = "pending"
ENDING = ".rows"
ROOM = 1024 * 1024  # bytes of a file, taken from the disk when it is made: a full one must not be a surprise later
LARGEST = 64 * ROOM  # what a file may grow to while the database cannot be written; some 200,000 rows
ENOUGH = 64 * 1024  # bytes after which a file whose rows are all in the database is begun again

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Row).decode


class PendingRows:
    """The file of this process; it is created with the first row."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{os.urandom(4).hex()}{ENDING}"
        self._descriptor = -1
        self._map: mmap.mmap | None = None
        self._is_broken = False
        self._size = 0

    def append(self, row: Row) -> bool:
        """Keep a row; returns False when it would not survive the end of this process."""
        if self._map is None and not self._try_open():
            return False
        line = _encode(row) + b"\n"
        end = self._size + len(line)
        if self._map is None or (end > len(self._map) and not self._try_grow()):
            return False
        self._map[self._size : end] = line  # a line that is cut short here was not committed, and is not read
        self._size = end
        return True

    def mark_saved(self, *, is_quiet: bool = False) -> None:
        """Record that all rows are in the database; the file is emptied if it is large, or if `is_quiet` is given."""
        self._is_broken = False
        if self._map is not None and self._size > (0 if is_quiet else ENOUGH):
            if len(self._map) > ROOM:
                self._map.close()
                os.ftruncate(self._descriptor, ROOM)
                self._map = mmap.mmap(self._descriptor, ROOM)
            used = min(self._size, ROOM)
            self._map[:used] = bytes(used)
            self._size = 0

    def rows(self) -> Iterator[Row]:
        return _rows(self._map[: self._size]) if self._map is not None else iter(())

    def close(self) -> None:
        """Close the file; it is removed when all rows were saved."""
        if self._map is not None:
            if not self._size:
                with contextlib.suppress(OSError):
                    self._path.unlink()
            self._map.close()
            self._map = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _try_open(self) -> bool:
        if self._is_broken:
            return False
        try:
            make_private(self._folder.parent)  # nothing is written to a folder of another user
            make_private(self._folder)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._descriptor = os.open(self._path, flags, 0o600)
            if not try_lock(self._descriptor):
                raise BlockingIOError("a reader has locked the new file")
            _reserve(self._descriptor, 0, ROOM)
            self._map = mmap.mmap(self._descriptor, ROOM)
            self._size = 0
        except (OSError, SnellError):
            self._is_broken = True
            self.close()
            return False
        return True

    def _try_grow(self) -> bool:
        """Double the file; returns False when the disk has no room."""
        assert self._map is not None
        size = len(self._map)
        if 2 * size > LARGEST:
            return False
        try:
            _reserve(self._descriptor, size, size)
            larger = mmap.mmap(self._descriptor, 2 * size)
        except OSError:
            return False
        self._map.close()
        self._map = larger
        return True


def _reserve(descriptor: int, start: int, length: int) -> None:
    """Reserve disk space: writing to a page without it would kill the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, start, length)
    else:
        os.pwrite(descriptor, bytes(length), start)


class PendingFile(msgspec.Struct, frozen=True):
    """The file of another process, which may have ended."""

    path: Path
    rows: tuple[Row, ...]
    is_orphaned: bool


@contextlib.contextmanager
def pending_files(folder: Path) -> Iterator[list[PendingFile]]:
    """Yield all files. Those of ended processes are locked for the length of the block, and then removed."""
    with contextlib.ExitStack() as held:
        files = [_read(path, held) for path in _files(folder)]
        yield files
        for file in files:
            if file.is_orphaned:
                with contextlib.suppress(OSError):
                    file.path.unlink()


def _files(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.name.endswith(ENDING))
    except OSError:
        return []


def _read(path: Path, held: contextlib.ExitStack) -> PendingFile:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        held.callback(os.close, descriptor)
        is_orphaned = try_lock(descriptor)
        return PendingFile(path, tuple(_rows(read_capped(path, LARGEST, follow_links=False))), is_orphaned)
    except (OSError, FileError):
        return PendingFile(path, (), is_orphaned=False)  # removed meanwhile, or of another user


def _rows(data: bytes) -> Iterator[Row]:
    for line in data.rstrip(b"\0").splitlines():
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            yield _decode(line)
