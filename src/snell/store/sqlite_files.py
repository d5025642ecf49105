"""Create, copy and identify the files of an SQLite database, and translate its errors."""

import contextlib
import errno
import os
import stat
from pathlib import Path

import apsw

from snell.model.errors import DISK_FULL, StoreBusyError, StoreError, StoreReadOnlyError
from snell.system.files import stat_or_none

BUSY_MS = 5_000  # how long a connection waits for other programs that write
TRUNCATE_AT = 32 * 1024 * 1024  # a log of this many bytes is truncated, although writers wait for that


def checkpoint_file(path: Path, log: Path) -> None:
    """Move the contents of the log into the database file, over a connection of its own."""
    connection = apsw.Connection(resolve_folder(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(BUSY_MS)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.pragma("schema_version")  # without a first read it knows of no log
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        if file_size(log) > TRUNCATE_AT:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    finally:
        connection.close()


def connect_read_only(path: Path) -> apsw.Connection:
    """Connect to a file that cannot be written; without a log beside it, as to a file that does not change."""
    from urllib.parse import quote  # slow to import

    has_log = file_size(f"{path}-wal") > 0
    address = f"file:{quote(resolve_folder(path))}?{'mode=ro' if has_log else 'immutable=1'}"
    connection = apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(BUSY_MS)
    return connection


def store_error(error: Exception, path: Path) -> StoreError:
    """Translate an error of apsw or of the operating system, with advice."""
    number = error.errno if isinstance(error, OSError) else 0
    message, advice = str(error), ""
    if isinstance(error, apsw.FullError) or number in DISK_FULL:
        message, advice = "cannot be written: the disk is full", "free some space"
    elif isinstance(error, apsw.ReadOnlyError | PermissionError) or number == errno.EROFS:
        message, advice = "cannot be written: it is read-only", "make the file and its directory writable"
        return StoreReadOnlyError(message, where=f"`{path}`", advice=advice)
    elif isinstance(error, apsw.BusyError | apsw.LockedError):
        return StoreBusyError("is in use by another program", where=f"`{path}`", advice="try again")
    elif isinstance(error, apsw.CantOpenError | apsw.IOError | OSError):
        detail = error.strerror if isinstance(error, OSError) else error
        message, advice = f"cannot be used: {detail}", "check the disk and the permissions"
    return StoreError(message, where=f"`{path}`", advice=advice)


def make_private_file(path: Path) -> None:
    """
    Create the file if it is missing, readable by its owner only.

    INVARIANT: SQLite gives the log files the mode of the database, so the mode is right before SQLite opens it.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise StoreError("is not a regular file", where=f"`{path}`", advice="move it away")
    # Not through a descriptor: closing one would drop the locks of another connection of this process.
    if found.st_mode & 0o077:
        os.chmod(path, 0o600)


def copy_database(connection: apsw.Connection, to: Path) -> None:
    """Copy a database into a new file that only its owner can read."""
    os.close(os.open(to, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    target = apsw.Connection(resolve_folder(to), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with target.backup("main", connection, "main") as backup:
            backup.step(-1)
    finally:
        target.close()


def resolve_folder(path: Path) -> str:
    """Return the path with symbolic links in its directory resolved; SQLite must refuse a link as the file only."""
    return os.path.join(os.path.realpath(path.parent), path.name)


def file_identity(path: Path) -> tuple[int, int]:
    """Return device and inode of a file; zeros if it does not exist."""
    found = stat_or_none(path)
    return (found.st_dev, found.st_ino) if found else (0, 0)


def file_size(path: Path | str) -> int:
    """Return the bytes of a file; 0 if it does not exist."""
    found = stat_or_none(path)
    return found.st_size if found else 0
