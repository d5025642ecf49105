"""
Read the user's database without ever writing to it, and notice when another process has written.

Each reading has a connection of its own, so that a slow one delays no other; the store may be missing, or replaced.
"""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import apsw

from snell.model.errors import StoreError
from snell.model.protocols import Transaction

T = TypeVar("T")
BUSY_MS = 2_000
_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW


class ReadOnlyStore:
    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = True) -> T:
        """Call `work` in one reading transaction. Raises StoreError."""
        if not only_reads:
            raise StoreError("the page does not write", where=f"`{self.path}`")
        try:
            with closing(_connect(self.path)) as connection:
                connection.execute("BEGIN")
                return work(_Reading(connection))
        except apsw.Error as error:
            advice = "`snell doctor` checks the store"
            raise StoreError(f"cannot be read: {error}", where=f"`{self.path}`", advice=advice) from None

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
        self._file = (0, 0)
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
            found = self._path.stat()
            if self._connection is None or self._file != (found.st_dev, found.st_ino):
                self.close()
                self._connection, self._file = _connect(self._path), (found.st_dev, found.st_ino)
            return (self._file, self._connection.pragma("data_version"))
        except (OSError, apsw.Error):
            self.close()
            return None


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path.parent.resolve() / path.name), flags=_FLAGS)
    connection.set_busy_timeout(BUSY_MS)
    connection.pragma("query_only", 1)
    connection.pragma("trusted_schema", 0)
    return connection


class _Reading:
    dialect = "sqlite"
    vectors = ""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def do(self, sql: str, *values: Any) -> int:
        raise StoreError("the page does not write")
