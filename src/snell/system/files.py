"""Write files atomically, read them with a size limit, and lock them."""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from snell.model.errors import SnellError

LOCK_SECONDS = 10.0


class FileError(SnellError):
    """A file that cannot be used as it is."""

    id = "file"


class LockedError(FileError):
    """Another process holds the lock."""


def write_atomically(path: Path, data: bytes, mode: int = 0o600, *, sync: bool = True) -> None:
    """
    Replace the file by `data`: after a crash, even of the machine, either the old or the new content is there.

    Without `sync` that holds for a crash of the program only, and the caller does not wait for the disk.
    """
    temporary = path.with_name(f".{path.name[:200]}.{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600)
    try:
        try:
            _write_all(descriptor, data)
            os.fchmod(descriptor, mode)
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if sync:
        _sync_directory(path.parent)


def read_capped(path: Path, cap: int, *, follow_links: bool = True) -> bytes:
    """
    Read a regular file of at most `cap` bytes; never waits for another process.

    Raises `FileError` for a file that is not regular or is longer, and the usual `OSError` for a missing one.
    """
    # Checked before it is opened, because opening a device can trigger it, and again afterwards.
    _check_regular(path, os.stat(path, follow_symlinks=follow_links))
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(path, flags if follow_links else flags | os.O_NOFOLLOW)
    try:
        _check_regular(path, os.fstat(descriptor))
        data = _read_up_to(descriptor, cap + 1)
    finally:
        os.close(descriptor)
    if len(data) > cap:
        raise FileError(f"is longer than {cap:,} bytes", where=f"`{path}`", advice="use a shorter file")
    return data


@contextlib.contextmanager
def file_lock(path: Path, wait: float = LOCK_SECONDS) -> Iterator[None]:
    """
    Hold an exclusive lock on this file, against other processes and other threads.

    The system releases it when its holder dies. The file stays: removing it would let two holders in.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise FileError("is a symbolic link", where=f"`{path}`", advice="remove it") from None
    try:
        _check_regular(path, os.fstat(descriptor))
        _lock(descriptor, path, time.monotonic() + wait)
        yield
    finally:
        os.close(descriptor)


_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _check_regular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise FileError(f"is {kind}, not a file", where=f"`{path}`", advice="name a regular file")


def _read_up_to(descriptor: int, limit: int) -> bytes:
    data = bytearray()
    while len(data) < limit and (chunk := os.read(descriptor, min(limit - len(data), 1_048_576))):
        data += chunk
    return bytes(data)


def _write_all(descriptor: int, data: bytes) -> None:
    unsent = memoryview(data)
    while unsent:
        unsent = unsent[os.write(descriptor, unsent) :]


def _sync_directory(path: Path) -> None:
    """Make the rename durable; some network file systems cannot, which is ignored."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _lock(descriptor: int, path: Path, until: float) -> None:
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                advice = "wait for it to end, then try again"
                raise LockedError("is locked by another process", where=f"`{path}`", advice=advice) from None
        time.sleep(0.01)
