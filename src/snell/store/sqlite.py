"""
Store rows in an SQLite file, through apsw: it brings a library without the write-ahead log bug of many system copies.

One connection, one thread at a time. Committed rows survive the end of this process, however it ends;
`durability="power"` also waits for the disk. A damaged file is moved aside and a new one is created.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import apsw

from snell.model.errors import SnellError, StoreError, StoreReadOnlyError
from snell.model.protocols import Database, T, Transaction
from snell.records import lost_ledger
from snell.records.row_seals import RowSeals
from snell.store import sqlite_files
from snell.store.migrate import Step, is_meta_damaged, migrate, newer_schema_error, repair_meta, schema_version, steps
from snell.system.deadline import BoundedLock
from snell.system.files import copy_name, file_lock, move_aside
from snell.system.paths import make_private

LOW_LATENCY_BUSY_MS = 500
RETRY_AFTER = 2.0  # seconds after a busy error in which a low-latency database does not try to write
LOCK_SECONDS = 30.0  # how long a thread waits for another one
CACHE_KB = 512  # of pages; the system keeps the rest, and one of its pages takes microseconds
LOG_LIMIT = 64 * 1024 * 1024  # bytes of a log that stay on the disk after a checkpoint

Durability = Literal["process", "power"]


class SqliteDatabase(Database):
    """
    A database file; opened on first use, and again after a failure.

    `problems` lists what the user should know: a damaged file that was replaced, a newer schema.
    """

    def __init__(
        self,
        path: Path,
        *,
        durability: Durability = "process",
        wanted: Sequence[Step] | None = None,
        low_latency: bool = False,
    ) -> None:
        """With `low_latency` it does not wait long for other programs that write."""
        self.path = path
        self.log_path = f"{path}-wal"
        self._low_latency = low_latency
        self._busy_until = 0.0
        self.problems: list[str] = []
        self._synchronous = "FULL" if durability == "power" else "NORMAL"
        self._wanted = steps("sqlite") if wanted is None else wanted
        self._lock = BoundedLock(f"`{path}`", LOCK_SECONDS)
        self._connection: apsw.Connection | None = None
        self._seals: RowSeals | None = None
        self._begin = "BEGIN IMMEDIATE"
        self._read_only: StoreError | None = None
        self._identity = (0, 0)
        self._can_join = False  # calls of `run` and `do` become a part of the transaction in progress
        self._has_failed_part = False
        self._lost = ""  # why the earlier file is gone, for the new one that replaces it

    def open(self) -> None:
        """Open the file and bring its schema up to date."""
        with self._lock:
            if self._connection is None:
                with self._as_store_errors():
                    self._open()

    def _open_connection(self) -> apsw.Connection:
        if self._connection is None:
            self.open()
            assert self._connection is not None
        return self._connection

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        with self._lock:
            try:
                connection = self._open_connection()
            except StoreReadOnlyError as error:
                if only_reads:
                    return self._read_only_run(work, error)
                raise
            is_inside = self._is_inside_commit(connection)
            if self._busy_until and not only_reads:
                self._raise_if_still_busy()
            if is_inside:
                return self._join(connection, work)
            begin = "BEGIN" if only_reads else self._begin
            return self._run_between(connection, work, begin)

    def _read_only_run(self, work: Callable[[Transaction], T], error: StoreReadOnlyError) -> T:
        """Read a file that cannot be written, over a connection of its own."""
        try:
            with contextlib.closing(sqlite_files.connect_read_only(self.path)) as connection:
                connection.execute("BEGIN")
                return work(SqliteTransaction(connection))
        except apsw.CantOpenError:
            raise error from None
        except apsw.Error as other:
            raise sqlite_files.store_error(other, self.path) from None

    def do(self, sql: str, *values: Any) -> int:
        # A statement alone is a transaction already; BEGIN and COMMIT would make it half as slow again.
        with self._lock:
            connection = self._open_connection()
            is_inside = self._is_inside_commit(connection)
            if self._busy_until:
                self._raise_if_still_busy()
            if is_inside:
                return self._join(connection, lambda tx: tx.do(sql, *values))
            try:
                return SqliteTransaction(connection, self._seals).do(sql, *values)
            except (apsw.Error, UnicodeEncodeError, OverflowError) as error:
                self._roll_back(connection)
                raise self._translate_error(error) from None

    def in_one_commit(self, work: Callable[[], None]) -> None:
        """Call `work` in one transaction, which its calls of `run` and `do` join; if one fails nothing is kept."""

        def run_parts(_tx: Transaction) -> None:
            self._can_join, self._has_failed_part = True, False
            try:
                work()
            finally:
                self._can_join = False
            if self._has_failed_part:
                raise StoreError("a part of a transaction failed", where=f"`{self.path}`")

        self.run(run_parts)

    def _is_inside_commit(self, connection: apsw.Connection) -> bool:
        if not connection.in_transaction:  # else this thread began it, since it holds the lock
            return False
        if not self._can_join:
            raise StoreError("a transaction was begun inside another one", where=f"`{self.path}`")
        return True

    def _join(self, connection: apsw.Connection, work: Callable[[Transaction], T]) -> T:
        self._can_join = False  # a part has no parts
        try:
            return work(SqliteTransaction(connection, self._seals))
        except BaseException as error:
            self._has_failed_part = True
            if isinstance(error, apsw.Error | UnicodeEncodeError | OverflowError):
                raise self._translate_error(error) from None
            raise
        finally:
            self._can_join = True

    def _run_between(self, connection: apsw.Connection, work: Callable[[Transaction], T], begin: str) -> T:
        try:
            connection.execute(begin)
            result = work(SqliteTransaction(connection, self._seals))
            connection.execute("COMMIT")
        except (apsw.Error, UnicodeEncodeError, OverflowError) as error:
            self._roll_back(connection)
            raise self._translate_error(error) from None
        except BaseException:
            self._roll_back(connection)
            raise
        return result

    def checkpoint(self) -> None:
        """
        Move the contents of the log into the file. Waits for the disk, so the caller should use another thread.

        Uses a second connection, so that the first one can write meanwhile.
        """
        with self._lock:
            if self._connection is not None and sqlite_files.file_identity(self.path) != self._identity:
                self.close()
                self._lost = f"`{self.path}`: was removed or replaced while in use; its rows are lost"
                self._add_problem(self._lost)
        with self._as_store_errors(), contextlib.suppress(apsw.BusyError, apsw.CantOpenError):
            sqlite_files.checkpoint_file(self.path, Path(self.log_path))

    def log_size(self) -> int:
        return sqlite_files.file_size(self.log_path)

    def size(self) -> int:
        return sqlite_files.file_size(self.path) + self.log_size()

    def check(self) -> list[str]:
        with self._lock, self._as_store_errors():
            found = self._open_connection().execute("PRAGMA integrity_check").fetchall()
            return [str(text) for (text,) in found if text != "ok"]

    def close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                with contextlib.suppress(apsw.Error):  # committed rows are in the log and stay there
                    connection.close()

    def _open(self) -> None:
        make_private(self.path.parent)
        # INVARIANT: only one of two programs that find a damaged file moves it; the second would move the new file.
        with file_lock(self.path.with_name(f"{self.path.name}.lock")):
            try:
                self._connection = self._connect()
            except (apsw.NotADBError, apsw.CorruptError) as error:
                self._replace(error)

    def _replace(self, error: Exception) -> None:
        kept = move_aside(self.path, "bad", ("-wal", "-shm"))
        self._lost = f"`{self.path}`: is damaged ({error}) and was moved to `{kept}`; a new file was created"
        self._add_problem(self._lost)
        self._connection = self._connect()

    def _connect(self) -> apsw.Connection:
        sqlite_files.make_private_file(self.path)
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
        connection = apsw.Connection(sqlite_files.resolve_folder(self.path), flags=flags)
        try:
            self._configure(connection)
            statements = (each for step in self._wanted for each in step.statements)
            self._seals = RowSeals(connection, self.path.parent, apsw.SQLITE_INNOCUOUS, statements)
            self._update_schema(connection)
        except BaseException:
            with contextlib.suppress(apsw.Error):
                connection.close()
            raise
        self._identity = sqlite_files.file_identity(self.path)
        return connection

    def _configure(self, connection: apsw.Connection) -> None:
        connection.set_busy_timeout(LOW_LATENCY_BUSY_MS if self._low_latency else sqlite_files.BUSY_MS)
        if not sqlite_files.file_size(self.path):
            connection.pragma("auto_vacuum", 2)  # incremental: only a new file takes it, and an old one would be locked
        # Closing would remove the log by its name, and that may be the log of another program's new file by then.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)  # another program may have added one
        if connection.pragma("journal_mode", "wal") != "wal":
            problem, advice = "the file system does not support a write-ahead log", "set SNELL_HOME to a local disk"
            raise StoreError(problem, where=f"`{self.path}`", advice=advice)
        settings = {"synchronous": self._synchronous, "journal_size_limit": LOG_LIMIT, "wal_autocheckpoint": 0}
        more = {"trusted_schema": 0, "cell_size_check": 1, "foreign_keys": 1, "cache_size": -CACHE_KB}
        for name, value in (settings | more).items():
            connection.pragma(name, value)

    def _update_schema(self, connection: apsw.Connection) -> None:
        tx = SqliteTransaction(connection, self._seals)
        version, latest = schema_version(tx, "sqlite"), self._wanted[-1].number
        self._begin, self._read_only = "BEGIN IMMEDIATE", None
        if version > latest:
            self._begin, self._read_only = "BEGIN", newer_schema_error(version, f"`{self.path}`")
            self._add_problem(str(self._read_only))
            connection.pragma("query_only", 1)
        elif version < latest:
            if version:
                sqlite_files.copy_database(connection, copy_name(self.path, f"before-{latest}"))
            connection.execute("BEGIN IMMEDIATE")
            migrate(tx, "sqlite", self._wanted)
            if lost := "" if version else self._lost or lost_ledger.find_loss(self.path):
                lost_ledger.record_loss(tx, lost)
            connection.execute("COMMIT")
            self._lost = ""
        elif is_meta_damaged(tx, version):
            repair_meta(tx, version)

    def _raise_if_still_busy(self) -> None:
        if time.monotonic() < self._busy_until:
            raise sqlite_files.store_error(apsw.BusyError(), self.path)
        self._busy_until = 0.0

    def _roll_back(self, connection: apsw.Connection) -> None:
        """Make the connection usable again; some errors have ended the transaction or the connection already."""
        if self._connection is not connection:
            return
        if self._seals:
            self._seals.forget_triggers()
        with contextlib.suppress(apsw.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        if connection.in_transaction:
            self.close()

    def _translate_error(self, error: Exception) -> StoreError:
        if isinstance(error, apsw.NotADBError | apsw.CorruptError):
            return self._replace_damaged(error)
        if isinstance(error, apsw.BusyError) and self._low_latency:
            self._busy_until = time.monotonic() + RETRY_AFTER
        if isinstance(error, apsw.ReadOnlyError) and self._read_only:
            return self._read_only
        return sqlite_files.store_error(error, self.path)

    def _replace_damaged(self, error: Exception) -> StoreError:
        self.close()
        try:
            with self._as_store_errors(), file_lock(self.path.with_name(f"{self.path.name}.lock")):
                if sqlite_files.file_identity(self.path) == self._identity:  # else another program has replaced it
                    self._replace(error)
        except StoreError as worse:
            return worse
        return StoreError(f"was damaged ({error}); this change is lost", where=f"`{self.path}`")

    @contextlib.contextmanager
    def _as_store_errors(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except SnellError as error:
            raise StoreError(error.message, where=error.where, advice=error.advice) from None
        except (OSError, apsw.Error) as error:
            raise sqlite_files.store_error(error, self.path) from None

    def _add_problem(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


class SqliteTransaction:
    dialect = "sqlite"
    vectors = ""

    def __init__(self, connection: apsw.Connection, seals: RowSeals | None = None) -> None:
        self._connection, self.seals = connection, seals

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        if self.seals and not sql.startswith("SELECT"):
            self.seals.prepare(sql)
        return self._connection.execute(sql, values).fetchall()

    def do(self, sql: str, *values: Any) -> int:
        if self.seals:
            self.seals.prepare(sql)
        self._connection.execute(sql, values)
        return self._connection.changes()


def open_database(address: str, *, low_latency: bool = False) -> SqliteDatabase:
    """Return the database in a file; the address is its path, with or without `sqlite:`."""
    return SqliteDatabase(Path(address.removeprefix("sqlite:")), low_latency=low_latency)
