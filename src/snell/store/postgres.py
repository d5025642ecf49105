"""
PostgreSQL, through psycopg: one state for a team. The same SQL as for SQLite, over one connection that is made again
when it breaks. Never on the way of an answer: the spool feeds it.
"""

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from snell.memory.pgvector import vectors_schema
from snell.model.errors import StoreError
from snell.model.protocols import T, Transaction
from snell.redact import redact
from snell.store.migrate import Step, migrate, newer, steps, version_of
from snell.system.optional_packages import install_advice, missing_message

if TYPE_CHECKING:
    import psycopg

CONNECT_SECONDS = 5
HEARING_SECONDS = 1.0  # between two looks whether somebody still listens
STATEMENT_MS = 10_000
MIGRATION_LOCK = 0x5E11  # any number, as long as it is always the same one


class ServerAwayError(StoreError):
    """The server cannot be reached now; the same may work later."""

    id = "store.away"


class RefusedRowError(StoreError):
    """The server is there and will not have this row, now or later."""

    id = "store.refused"


class PostgresDatabase:
    """
    A schema on a server; connected when it is first used, and again after trouble.

    `problems` tells what a person should know: a newer schema, a connection that others could listen to. With
    `pgvector=False` the extension is not used where it could be.
    """

    def __init__(
        self, address: str, *, schema: str = "snell", wanted: Sequence[Step] | None = None, pgvector: bool = True
    ) -> None:
        self.problems: list[str] = []
        self._psycopg = _driver()
        self._address = _readable(address, self._psycopg)
        self._schema = schema
        self._wanted = steps("postgres") if wanted is None else wanted
        self._lock = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._read_only: StoreError | None = None
        self._is_working = False
        self._is_uncertain = False
        self._has_vectors, self._vectors = pgvector, ""
        self.where = f"PostgreSQL, schema `{schema}`"

    def open(self) -> None:
        """Connect and bring the schema up to date, or say why that cannot be."""
        with self._lock:
            if self._connection is None:
                try:
                    self._connection = self._connected()
                except self._psycopg.Error as error:
                    raise self._trouble(error) from None

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        with self._lock:
            if self._is_working:
                raise StoreError("a transaction was begun inside another one", where=self.where)
            was_open = self._connection is not None
            try:
                return self._attempt(work)
            except ServerAwayError:
                # A connection that was left alone may be dead without our knowing. Nothing of the work has counted
                # yet (a commit that broke is not tried again), so it can be done once more.
                if not was_open or self._is_uncertain:
                    raise
            return self._attempt(work)

    def listen(self, channel: str, hear: Callable[[str], None], ended: threading.Event) -> None:
        """Hear what is notified, on a connection of its own, until it has ended. A lost connection is made again."""
        name = self._psycopg.sql.Identifier(channel)
        while not ended.is_set():
            try:
                options = {**self._safe_options(), "connect_timeout": CONNECT_SECONDS, "application_name": "snell"}
                with self._psycopg.connect(self._address, **options, autocommit=True) as connection:
                    connection.execute(self._psycopg.sql.SQL("LISTEN {}").format(name))
                    while not ended.is_set():
                        for notice in connection.notifies(timeout=HEARING_SECONDS):
                            hear(notice.payload)
            except self._psycopg.Error:
                ended.wait(HEARING_SECONDS)

    def checkpoint(self) -> None:
        """Nothing to do: the server looks after its own log."""

    def close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def do(self, sql: str, *values: Any) -> int:
        return self.run(lambda tx: tx.do(sql, *values))

    def _attempt(self, work: Callable[[Transaction], T]) -> T:
        self.open()
        connection = self._connection
        assert connection is not None
        self._is_working, self._is_uncertain = True, False
        try:
            result = work(_PostgresTransaction(connection, self._vectors))
            self._is_uncertain = True
            connection.commit()
        except (self._psycopg.Error, UnicodeEncodeError, OverflowError) as error:
            self._undo(connection)
            raise self._trouble(error) from None
        except BaseException:
            self._undo(connection)
            raise
        finally:
            self._is_working = False
        return result

    def _connected(self) -> "psycopg.Connection[Any]":
        connection: psycopg.Connection[Any] = self._psycopg.connect(
            self._address,
            **self._safe_options(),
            connect_timeout=CONNECT_SECONDS,
            application_name="snell",
        )
        try:
            self._settle(connection)
            self._update_schema(connection)
            self._vectors = self._vectors_of(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _safe_options(self) -> dict[str, str]:
        """Nobody listens in on a connection that leaves the machine, unless the address says otherwise."""
        given = self._psycopg.conninfo.conninfo_to_dict(self._address)
        hosts = str(given.get("host") or given.get("hostaddr") or "").split(",")
        if all(host in {"", "localhost", "127.0.0.1", "::1"} or host.startswith(("/", "@")) for host in hosts):
            return {}
        mode = given.get("sslmode")
        if mode is None:
            return {"sslmode": "verify-full", "sslrootcert": str(given.get("sslrootcert") or "system")}
        if mode != "verify-full":
            self._tell(f"{self.where}: sslmode is `{mode}`, so others could listen; use sslmode=verify-full")
        return {}

    def _settle(self, connection: "psycopg.Connection[Any]") -> None:
        name = self._psycopg.sql.Identifier(self._schema)
        set_path = self._psycopg.sql.SQL("SET search_path TO {}").format(name)
        connection.execute(set_path)
        connection.execute(f"SET statement_timeout TO {STATEMENT_MS}")
        if connection.execute("SELECT current_schema()").fetchone() == (None,):
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            connection.execute(self._psycopg.sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
        connection.commit()

    def _update_schema(self, connection: "psycopg.Connection[Any]") -> None:
        tx = _PostgresTransaction(connection)
        latest = self._wanted[-1].number
        version = version_of(tx, "postgres")
        if version < latest:
            # Held until the commit; whoever comes second finds the work done.
            tx.rows("SELECT pg_advisory_xact_lock(?)", MIGRATION_LOCK)
            migrate(tx, "postgres", self._wanted)
        connection.commit()
        self._read_only = newer(version, self.where) if version > latest else None
        if self._read_only:
            self._tell(str(self._read_only))
            connection.read_only = True

    def _vectors_of(self, connection: "psycopg.Connection[Any]") -> str:
        if not self._has_vectors or self._read_only:
            return ""
        found = vectors_schema(connection, self._psycopg, MIGRATION_LOCK)
        connection.commit()
        return found

    def _undo(self, connection: "psycopg.Connection[Any]") -> None:
        try:
            connection.rollback()
        except self._psycopg.Error:
            connection.close()
        if connection.closed:
            self._connection = None

    def _trouble(self, error: Exception) -> StoreError:
        said = redact(" ".join(str(error).split()))
        if isinstance(error, self._psycopg.errors.ReadOnlySqlTransaction) and self._read_only:
            return self._read_only
        # A statement that took too long is also an OperationalError, but the connection is still there.
        if isinstance(error, self._psycopg.OperationalError) and self._connection is None:
            advice = "check the address and the network"
            return ServerAwayError(f"cannot be reached: {said}", where=self.where, advice=advice)
        if isinstance(error, self._psycopg.DataError | self._psycopg.IntegrityError | UnicodeEncodeError):
            return RefusedRowError(f"a row is refused: {said}", where=self.where)
        return StoreError(said, where=self.where)

    def _tell(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


class _PostgresTransaction:
    dialect = "postgres"

    def __init__(self, connection: "psycopg.Connection[Any]", vectors: str = "") -> None:
        self._connection = connection
        self.vectors = vectors

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(_translated(sql), values).fetchall()

    def do(self, sql: str, *values: Any) -> int:
        return self._connection.execute(_translated(sql), values).rowcount


def _readable(address: str, psycopg: Any) -> str:
    """What the driver says about a bad address quotes it, password and all; so it is asked before, and not quoted."""
    try:
        psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        advice = "write `postgresql://USER@HOST/DATABASE`"
        raise StoreError("the address of the PostgreSQL server cannot be read", advice=advice) from None
    return address


@lru_cache(maxsize=512)
def _translated(sql: str) -> Any:
    """INVARIANT: our SQL holds `?` as a placeholder only; texts are always values."""
    return sql.replace("%", "%%").replace("?", "%s")


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise StoreError(f"PostgreSQL cannot be used: {missing_message('pg')}", advice=install_advice("pg")) from None
    return psycopg
