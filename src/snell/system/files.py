"""Write files atomically, read them with a size limit, lock them, and keep copies beside them."""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from snell.model.errors import SnellError

T = TypeVar("T")
Stamp = tuple[int, int, int, int, int]
LOCK_SECONDS = 10.0
MAX_COPIES = 10


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
            unsent = memoryview(data)
            while unsent:
                unsent = unsent[os.write(descriptor, unsent) :]
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
        with contextlib.suppress(OSError):  # some network file systems cannot make the rename durable
            sync_to_disk(path.parent.resolve())


def sync_to_disk(path: Path) -> None:
    """Wait until a file or folder, not a link, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
        data = bytearray()
        while len(data) <= cap and (chunk := os.read(descriptor, min(cap + 1 - len(data), 1_048_576))):
            data += chunk
    finally:
        os.close(descriptor)
    if len(data) > cap:
        raise FileError(f"is longer than {cap:,} bytes", where=f"`{path}`", advice="use a shorter file")
    return bytes(data)


def bytes_or_none(path: Path, cap: int, *, follow_links: bool = True) -> bytes | None:
    """Return the bytes of a file like `read_capped`; None if it cannot be read."""
    try:
        return read_capped(path, cap, follow_links=follow_links)
    except (OSError, FileError, ValueError):
        return None


def names_in(folder: str | Path) -> list[str]:
    """Return the names in a folder, in any order; none if it cannot be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def text_or_nothing(path: Path, cap: int, *, follow_links: bool = True) -> str:
    """Return the text of a file like `read_capped`; empty if it cannot be read."""
    return (bytes_or_none(path, cap, follow_links=follow_links) or b"").decode("utf-8", "replace")


def struct_or_none(path: Path, type: type[T], cap: int) -> T | None:  # noqa: A002 - as in msgspec
    """Return what a JSON file contains; None if it cannot be read, is a link or contains something else."""
    try:
        return msgspec.json.decode(read_capped(path, cap, follow_links=False), type=type)
    except (OSError, FileError, msgspec.DecodeError, RecursionError):
        return None


@contextlib.contextmanager
def file_lock(path: Path, wait: float = LOCK_SECONDS) -> Iterator[int]:
    """
    Hold an exclusive lock on this file, against other processes and other threads; yields its descriptor.

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
        until = time.monotonic() + wait
        while not try_lock(descriptor):
            if time.monotonic() >= until:
                advice = "wait for it to end, then try again"
                raise LockedError("is locked by another process", where=f"`{path}`", advice=advice)
            time.sleep(0.01)
        yield descriptor
    finally:
        os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock an open file, without waiting; return False if another process has locked it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def stat_or_none(path: str | Path, *, follow_links: bool = True) -> os.stat_result | None:
    """Return the status of a file; None if there is none, or it cannot be reached."""
    try:
        return os.stat(path, follow_symlinks=follow_links)
    except (OSError, ValueError):
        return None


def stamp_of(path: str | Path) -> Stamp | None:
    """Return the times, size and identity of a file, which change when it does; None if there is none."""
    found = stat_or_none(path)
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev) if found else None


def file_version(path: str | Path) -> str:
    """Return a text that changes when a regular file is written; empty for anything else."""
    found = stat_or_none(path)
    return f"{path} {found.st_size} {found.st_mtime_ns}" if found and stat.S_ISREG(found.st_mode) else ""


def is_own_file(path: str | Path) -> bool:
    """Whether this is a regular file of the user, not a link."""
    found = stat_or_none(path, follow_links=False)
    return found is not None and stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()


def copy_name(path: Path, why: str) -> Path:
    """Return a free name beside the file, such as `a.db.bad-20260102T030405`; deletes the oldest copies of many."""
    copies = sorted(path.parent.glob(f"{path.name}.{why}-*"), key=lambda copy: copy.stat().st_mtime_ns)
    for oldest in copies[: max(0, len(copies) - MAX_COPIES + 1)]:
        with contextlib.suppress(OSError):
            oldest.unlink()
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    name = path.with_name(f"{path.name}.{why}-{stamp}")
    number = 1
    while os.path.lexists(name):
        number += 1
        name = path.with_name(f"{path.name}.{why}-{stamp}-{number}")
    return name


def move_aside(path: Path, why: str, beside: tuple[str, ...] = ()) -> Path:
    """Rename a file, and those whose names only add one of these endings; returns its new path."""
    name = copy_name(path, why)
    for ending in ("", *beside):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{path}{ending}", f"{name}{ending}")
    return name


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
