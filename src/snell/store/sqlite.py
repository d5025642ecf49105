"""
SQLite, through apsw: the library inside it has the write-ahead log mended that many systems' own copies can corrupt.

One connection, one thread at a time. What was committed survives the end of this process, however it ends;
`durability="power"` also waits for the disk. A damaged file is moved aside and a new one begun.
"""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import apsw

from snell.model.errors import SnellError, StoreBusyError, StoreError
from snell.model.protocols import T, Transaction
from snell.records import lost_ledger
from snell.store.migrate import Step, migrate, newer, steps, version_of
from snell.system.backup_copies import copy_name, move_aside
from snell.system.files import file_lock
from snell.system.paths import make_private
from snell.system.timeout_lock import BoundedLock

BUSY_MS = 5_000
HURRIED_MS = 500
NOT_AGAIN = 2.0  # seconds after that in which a hurried one does not even try
LONGEST_TURN = 30.0  # seconds that a thread waits for another one
LOG_LIMIT = 64 * 1024 * 1024  # what stays on the disk of a log that has grown
TRUNCATE_AT = 32 * 1024 * 1024  # a log this long is emptied, although writers wait for that

Durability = Literal["process", "power"]


class SqliteDatabase:
    """
    A database file; opened when it is first used, and again after trouble.

    `problems` tells what a person should know: a damaged file that was replaced, a newer schema.
    """

    def __init__(
        self,
        path: Path,
        *,
        durability: Durability = "process",
        wanted: Sequence[Step] | None = None,
        low_latency: bool = False,
    ) -> None:
        """`hurries`: many wait for whoever uses it, so another program that writes for long is not waited for."""
        self.path = path
        self._hurries = low_latency
        self._busy_until = 0.0
        self.problems: list[str] = []
        self._synchronous = "FULL" if durability == "power" else "NORMAL"
        self._wanted = steps("sqlite") if wanted is None else wanted
        self._lock = BoundedLock(f"`{path}`", LONGEST_TURN)
        self._connection: apsw.Connection | None = None
        self._begin = "BEGIN IMMEDIATE"
        self._read_only: StoreError | None = None
        self._identity = (0, 0)
        self._takes_parts = False
        self._lost = ""  # what the next new file takes the place of

    def open(self) -> None:
        """Make the file ready for use, or say why that cannot be."""
        with self._lock:
            if self._connection is None:
                with self._clear_errors():
                    self._open()

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        with self._lock:
            if self._connection is None:
                self.open()
            connection = self._connection
            assert connection is not None
            is_part = self._is_ready_for_a_part(connection)
            if self._busy_until and not only_reads:
                self._refuse_to_wait_again()
            if is_part:
                return self._part(connection, work)
            try:
                connection.execute("BEGIN" if only_reads else self._begin)
                result = work(_SqliteTransaction(connection))
                connection.execute("COMMIT")
            except (apsw.Error, UnicodeEncodeError, OverflowError) as error:
                self._undo(connection)
                raise self._trouble(error) from None
            except BaseException:
                self._undo(connection)
                raise
            return result

    def do(self, sql: str, *values: Any) -> int:
        """One statement by itself is a transaction already; saying so would cost half as much again."""
        self._lock.acquire()
        try:
            connection = self._connection
            if connection is None:
                self.open()
                connection = self._connection
                assert connection is not None
            is_part = self._is_ready_for_a_part(connection)
            if self._busy_until:
                self._refuse_to_wait_again()
            if is_part:
                return self._part(connection, lambda tx: tx.do(sql, *values))
            try:
                connection.execute(sql, values)
                return connection.changes()
            except (apsw.Error, UnicodeEncodeError, OverflowError) as error:
                self._undo(connection)
                raise self._trouble(error) from None
        finally:
            self._lock.release()

    def in_one_commit(self, work: Callable[[], None]) -> None:
        """
        Everything that `work` does by `run` and `do` in this thread, kept with one commit: many small transactions
        cost little more than one. Each of them can still fail by itself; when the commit fails, none was kept.
        """
        with self._lock:
            self.run(lambda _tx: self._in_parts(work))

    def _in_parts(self, work: Callable[[], None]) -> None:
        self._takes_parts = True
        try:
            work()
        finally:
            self._takes_parts = False

    def _is_ready_for_a_part(self, connection: apsw.Connection) -> bool:
        """Whoever is here has the lock, so a transaction that is open was begun by the same thread."""
        if not connection.in_transaction:
            return False
        if not self._takes_parts:
            raise StoreError("a transaction was begun inside another one", where=f"`{self.path}`")
        return True

    def _part(self, connection: apsw.Connection, work: Callable[[Transaction], T]) -> T:
        self._takes_parts = False  # a part has no parts
        try:
            connection.execute("SAVEPOINT part")
            result = work(_SqliteTransaction(connection))
            connection.execute("RELEASE part")
        except (apsw.Error, UnicodeEncodeError, OverflowError) as error:
            self._undo_part(connection)
            raise self._trouble(error) from None
        except BaseException:
            self._undo_part(connection)
            raise
        finally:
            self._takes_parts = True
        return result

    def _undo_part(self, connection: apsw.Connection) -> None:
        """Some errors end the whole transaction; then there is no savepoint left."""
        with contextlib.suppress(apsw.Error):
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")

    def checkpoint(self) -> None:
        """
        Move what the log holds into the file. For a thread of its own: this waits for the disk.

        A second connection does it, so that the first one goes on writing meanwhile.
        """
        self._notice_a_lost_file()
        with self._clear_errors(), contextlib.suppress(apsw.BusyError, apsw.CantOpenError):
            connection = apsw.Connection(_real(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                connection.set_busy_timeout(BUSY_MS)
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                connection.pragma("schema_version")  # before its first look at the file it knows of no log
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                if self.log_size() > TRUNCATE_AT:
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            finally:
                connection.close()

    def log_size(self) -> int:
        try:
            return os.stat(f"{self.path}-wal").st_size
        except OSError:
            return 0

    def check(self) -> list[str]:
        """Read everything; returns what is wrong with the file."""
        with self._lock, self._clear_errors():
            self.open()
            assert self._connection is not None
            found = self._connection.execute("PRAGMA integrity_check").fetchall()
            return [str(text) for (text,) in found if text != "ok"]

    def back_up(self, to: Path) -> None:
        """Copy everything as it is now into a new file that only its owner can read."""
        with self._lock, self._clear_errors():
            self.open()
            assert self._connection is not None
            _copy(self._connection, to)

    def close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                with contextlib.suppress(apsw.Error):  # what is committed is in the log, and stays there
                    connection.close()

    def _notice_a_lost_file(self) -> None:
        """Somebody who removes the file while it is open would have us write into nothing."""
        with self._lock:
            if self._connection is not None and _identity(self.path) != self._identity:
                self.close()
                self._lost = f"`{self.path}`: was removed or replaced while it was in use; what it held is gone"
                self._tell(self._lost)

    def _open(self) -> None:
        make_private(self.path.parent)
        # Two programs that find the same damaged file must not both move it: the second would move the new one.
        with file_lock(self.path.with_name(f"{self.path.name}.lock")):
            try:
                self._connection = self._connected()
            except (apsw.NotADBError, apsw.CorruptError) as error:
                self._replace(error)

    def _replace(self, error: Exception) -> None:
        kept = move_aside(self.path, "bad", ("-wal", "-shm"))
        self._lost = f"`{self.path}`: is damaged ({error}) and was moved to `{kept}`; a new one was begun"
        self._tell(self._lost)
        self._connection = self._connected()

    def _connected(self) -> apsw.Connection:
        _make_private_file(self.path)
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
        connection = apsw.Connection(_real(self.path), flags=flags)
        try:
            self._settle(connection)
            self._update_schema(connection)
        except BaseException:
            with contextlib.suppress(apsw.Error):
                connection.close()
            raise
        self._identity = _identity(self.path)
        return connection

    def _settle(self, connection: apsw.Connection) -> None:
        connection.set_busy_timeout(HURRIED_MS if self._hurries else BUSY_MS)
        # Closing would remove the log by its name, which may by then be that of another program's new file.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        if connection.pragma("journal_mode", "wal") != "wal":
            advice = "set SNELL_HOME to a directory on a local disk"
            raise StoreError("this disk does not allow a write-ahead log", where=f"`{self.path}`", advice=advice)
        for name, value in (
            ("synchronous", self._synchronous),
            ("journal_size_limit", LOG_LIMIT),
            ("wal_autocheckpoint", 0),
            ("trusted_schema", 0),
            ("cell_size_check", 1),
            ("foreign_keys", 1),
        ):
            connection.pragma(name, value)

    def _update_schema(self, connection: apsw.Connection) -> None:
        tx = _SqliteTransaction(connection)
        version, latest = version_of(tx, "sqlite"), self._wanted[-1].number
        self._begin, self._read_only = "BEGIN IMMEDIATE", None
        if version > latest:
            self._begin, self._read_only = "BEGIN", newer(version, f"`{self.path}`")
            self._tell(str(self._read_only))
            connection.pragma("query_only", 1)
        elif version < latest:
            if version:
                _copy(connection, copy_name(self.path, f"before-{latest}"))
            connection.execute("BEGIN IMMEDIATE")
            migrate(tx, "sqlite", self._wanted)
            if lost := "" if version else self._lost or lost_ledger.missing(self.path):
                lost_ledger.note(tx, lost)
            connection.execute("COMMIT")
            self._lost = ""

    def _refuse_to_wait_again(self) -> None:
        if time.monotonic() < self._busy_until:
            raise _in_words(apsw.BusyError(), self.path)
        self._busy_until = 0.0

    def _undo(self, connection: apsw.Connection) -> None:
        """Back to a connection that can be used; some errors have ended the transaction already, or all of it."""
        if self._connection is not connection:
            return
        with contextlib.suppress(apsw.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        if connection.in_transaction:
            self.close()

    def _trouble(self, error: Exception) -> StoreError:
        if isinstance(error, apsw.NotADBError | apsw.CorruptError):
            return self._after_damage(error)
        if isinstance(error, apsw.BusyError) and self._hurries:
            self._busy_until = time.monotonic() + NOT_AGAIN
        if isinstance(error, apsw.ReadOnlyError) and self._read_only:
            return self._read_only
        return _in_words(error, self.path)

    def _after_damage(self, error: Exception) -> StoreError:
        self.close()
        try:
            with self._clear_errors(), file_lock(self.path.with_name(f"{self.path.name}.lock")):
                if _identity(self.path) == self._identity:  # else another program was faster
                    self._replace(error)
        except StoreError as worse:
            return worse
        return StoreError(f"was damaged ({error}), so what was to be done now is lost", where=f"`{self.path}`")

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except SnellError as error:
            raise StoreError(error.message, where=error.where, advice=error.advice) from None
        except (OSError, apsw.Error) as error:
            raise _in_words(error, self.path) from None

    def _tell(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


class _SqliteTransaction:
    dialect = "sqlite"
    vectors = ""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def do(self, sql: str, *values: Any) -> int:
        self._connection.execute(sql, values)
        return self._connection.changes()


def _in_words(error: Exception, path: Path) -> StoreError:
    number = error.errno if isinstance(error, OSError) else 0
    message, advice = str(error), ""
    if isinstance(error, apsw.FullError) or number in {errno.ENOSPC, errno.EDQUOT}:
        message, advice = "cannot be written: the disk is full", "free some space"
    elif isinstance(error, apsw.ReadOnlyError) or number == errno.EROFS:
        message, advice = "cannot be written: it is read-only", "make the file and its directory writable"
    elif isinstance(error, apsw.BusyError | apsw.LockedError):
        return StoreBusyError("is in use by another program", where=f"`{path}`", advice="try again")
    elif isinstance(error, apsw.CantOpenError | apsw.IOError | OSError):
        said = error.strerror if isinstance(error, OSError) else error
        message, advice = f"cannot be used: {said}", "check the disk, and who may write there"
    return StoreError(message, where=f"`{path}`", advice=advice)


def _make_private_file(path: Path) -> None:
    """INVARIANT: the log files get the mode of the database, so this one is right before SQLite sees it."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise StoreError("is not a regular file", where=f"`{path}`", advice="move it away")
    # Not through a descriptor: closing one would drop the locks that another connection of ours holds on the file.
    if found.st_mode & 0o077:
        os.chmod(path, 0o600)


def _copy(connection: apsw.Connection, to: Path) -> None:
    os.close(os.open(to, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    target = apsw.Connection(_real(to), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with target.backup("main", connection, "main") as backup:
            backup.step(-1)
    finally:
        target.close()


def _real(path: Path) -> str:
    """The directory resolved: SQLite's refusal of links is about the file, not about how we came there."""
    return os.path.join(os.path.realpath(path.parent), path.name)


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino
