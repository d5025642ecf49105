"""
Read the user's database without ever writing to it, and notice when another process has written.

Readings at the same time have connections of their own, so that a slow one delays no other; the store may be missing,
or replaced.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from snell.model.errors import StoreError
from snell.model.protocols import Transaction
from snell.store.sqlite import SqliteTransaction

T = TypeVar("T")
Identity = tuple[int, int]  # the device and the number of a file
BUSY_MS = 2_000
_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW


class ReadOnlyStore:
    """Connections are kept: the first one after all others are closed has to read the whole log of the database."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: list[tuple[Identity, apsw.Connection]] = []

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = True) -> T:
        """Call `work` in one reading transaction. Raises StoreError."""
        if not only_reads:
            raise StoreError("the page does not write", where=f"`{self.path}`")
        try:
            identity, connection = self._take()
            with _close_on_error(connection):
                connection.execute("BEGIN")
                result = work(_Reading(connection))
                connection.execute("ROLLBACK")
        except (apsw.Error, OSError) as error:
            advice = "`snell doctor` checks the store"
            raise StoreError(f"cannot be read: {error}", where=f"`{self.path}`", advice=advice) from None
        self._idle.append((identity, connection))
        return result

    def _take(self) -> tuple[Identity, apsw.Connection]:
        """Return a connection to the file that is there now; those to an earlier one are closed."""
        identity = _identity(self.path)
        while self._idle:
            known, connection = self._idle.pop()
            if known == identity:
                return known, connection
            connection.close()
        return identity, _connect(self.path)

    @property
    def exists(self) -> bool:
        return self.path.exists()

    def size(self) -> int:
        """Return the bytes of the file and of its log."""
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(each.stat().st_size for each in files if each.exists())


class Changes:
    """Counts the commits of other processes, as seen when it is asked; asking costs microseconds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: apsw.Connection | None = None
        self._seen: Any = None
        self._file: Identity = (0, 0)
        self.number = 0

    def look(self) -> int:
        """Return a number that differs from the last one if something was committed since."""
        seen = self._version()
        if seen != self._seen:
            self._seen = seen
            self.number += 1
        return self.number

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _version(self) -> Any:
        try:
            found = _identity(self._path)
            if self._connection is None or self._file != found:
                self.close()
                self._connection, self._file = _connect(self._path), found
            return (self._file, self._connection.pragma("data_version"))
        except (OSError, apsw.Error):
            self.close()
            return None


def _identity(path: Path) -> Identity:
    found = path.stat()
    return found.st_dev, found.st_ino


@contextmanager
def _close_on_error(connection: apsw.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path.parent.resolve() / path.name), flags=_FLAGS)
    connection.set_busy_timeout(BUSY_MS)
    connection.pragma("query_only", 1)
    connection.pragma("trusted_schema", 0)
    return connection


class _Reading(SqliteTransaction):
    def do(self, sql: str, *values: Any) -> int:
        raise StoreError("the page does not write")
