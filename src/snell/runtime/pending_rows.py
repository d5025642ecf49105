"""
Committed rows that are not in the database yet, and traces that it did not take.

A line in a file that is mapped into memory costs no system call, and survives the end of this process as well as a
transaction does: the pages belong to the kernel.
Each process has a file of its own and holds its lock while it runs, so that the next reader of the journal can tell an
orphaned file from one that is in use. A row that is in a file twice, or in the database already, counts once.
"""

import contextlib
import mmap
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from snell.model.errors import SnellError
from snell.records.decisions import Row
from snell.system.files import try_lock
from snell.system.paths import make_private

FOLDER = "pending"
ENDING = ".rows"
ROOM = 1024 * 1024  # bytes of a file, taken from the disk when it is made: a full one must not be a surprise later
LARGEST_STEP = 64 * ROOM  # by which a file grows while the database cannot be written; the disk alone is its limit
ENOUGH = 64 * 1024  # bytes after which a file whose rows are all in the database is begun again

CHUNK = 256 * 1024


class PendingTrace(msgspec.Struct, frozen=True):
    """The redacted trace of a decision."""

    trace_of: str  # the decision's id
    body: str


_encode = msgspec.json.Encoder().encode
_decode_row = msgspec.json.Decoder(Row).decode
_decode_trace = msgspec.json.Decoder(PendingTrace).decode


class PendingRows:
    """The file of this process; it is created with the first row."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{os.urandom(4).hex()}{ENDING}"
        self._descriptor = -1
        self._map: mmap.mmap | None = None
        self._is_broken = False
        self._size = self._last = 0

    def append(self, row: Row | PendingTrace) -> bool:
        """Keep a row; returns False when it would not survive the end of this process."""
        if self._map is None and not self._try_open():
            return False
        line = _encode(row) + b"\n"
        end = self._size + len(line)
        while self._map is None or end > len(self._map):
            if not self._try_grow():
                return False
        self._map[self._size : end] = line  # a line that is cut short here was not committed, and is not read
        self._last, self._size = self._size, end
        return True

    def remove_last(self) -> bool:
        """Remove the row that was appended last; returns False if the file was emptied since."""
        if self._map is None or self._last >= self._size:
            return False
        self._map[self._last : self._size] = bytes(self._size - self._last)
        self._size = self._last
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
            self._size = self._last = 0

    def read(self, start: int = 0) -> "Iterator[tuple[Row | PendingTrace, int]]":
        """Yield each row and trace from a position of the file on, with the position after it."""
        return _records(self._descriptor, start) if self._map is not None else iter(())

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
            self._size = self._last = 0
        except (OSError, SnellError):
            self._is_broken = True
            self.close()
            return False
        return True

    def _try_grow(self) -> bool:
        """Double the file, or add the largest step; returns False when the disk has no room."""
        if self._map is None:
            return False
        size = len(self._map)
        try:
            _reserve(self._descriptor, size, min(size, LARGEST_STEP))
            larger = mmap.mmap(self._descriptor, size + min(size, LARGEST_STEP))
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
    descriptor: int
    is_orphaned: bool

    def records(self) -> Iterator[Row | PendingTrace]:
        """Yield the rows; of a process that has ended also the traces, which another one writes by itself."""
        records = (record for record, _ in _records(self.descriptor))
        return records if self.is_orphaned else (each for each in records if isinstance(each, Row))


@contextlib.contextmanager
def pending_files(folder: Path) -> Iterator[list[PendingFile]]:
    """Yield all files. Those of ended processes are locked for the length of the block, and then removed."""
    with contextlib.ExitStack() as held:
        files = [file for path in _files(folder) if (file := _open(path, held))]
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


def id_of_delivery(folder: Path, request_key: str) -> str:
    """Return the id of the decision about a delivery, if it is in one of the files; an orphaned one stays as it is."""
    found = ""
    with contextlib.ExitStack() as held:
        for path in _files(folder):
            file = _open(path, held, locks=False)
            for each in file.records() if file else ():
                if isinstance(each, Row) and each.request_key == request_key and each.verdict != "defer":
                    found = each.id
    return found


def _open(path: Path, held: contextlib.ExitStack, *, locks: bool = True) -> PendingFile | None:
    """Open a file of this user; None if it was removed meanwhile, or is not one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    held.callback(os.close, descriptor)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return None
    return PendingFile(path, descriptor, locks and try_lock(descriptor))


def _records(descriptor: int, start: int = 0) -> Iterator[tuple[Row | PendingTrace, int]]:
    """Yield what is in a file, a part at a time; it ends where only reserved space is left."""
    rest = b""
    while part := os.pread(descriptor, CHUNK, start + len(rest)):
        *lines, rest = (rest + part.rstrip(b"\0")).split(b"\n")
        for line in lines:
            start += len(line) + 1
            with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                yield _decode_trace(line) if line.startswith(b'{"trace_of"') else _decode_row(line), start
        if part.endswith(b"\0"):
            return
