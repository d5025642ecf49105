"""
Store rows on a PostgreSQL server that a team shares, through psycopg, with the same SQL as SQLite.

One connection, which is made again when it breaks. No reply to a client waits for it: replication feeds it.
"""

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from snell.memory.pgvector import vectors_schema
from snell.model.errors import RefusedRowError, StoreError
from snell.model.protocols import Database, T, Transaction
from snell.redact import redact
from snell.store.migrate import Step, migrate, newer_schema_error, schema_version, steps
from snell.system.optional_packages import install_advice, missing_message

if TYPE_CHECKING:
    import psycopg

LISTEN_SECONDS = 1.0  # after which `listen` looks whether it should end
STATEMENT_MS = 10_000
_OPTIONS: Any = {"connect_timeout": 5, "application_name": "snell"}
MIGRATION_LOCK = 0x5E11  # any number that is the same in every version


class ServerAwayError(StoreError):
    """The server cannot be reached now; the caller may try again later."""

    id = "store.away"


class PostgresDatabase(Database):
    """
    A schema on a server; connected on first use, and again after a failure.

    `problems` lists what the user should know: a newer schema, a connection that is not encrypted well. With
    `pgvector=False` the extension is not used even if the server has it.
    """

    def __init__(
        self, address: str, *, schema: str = "snell", wanted: Sequence[Step] | None = None, pgvector: bool = True
    ) -> None:
        self.problems: list[str] = []
        self._psycopg = _driver()
        # The driver's own error would quote the address with its password.
        try:
            self._psycopg.conninfo.conninfo_to_dict(address)
        except self._psycopg.ProgrammingError:
            advice = "write `postgresql://USER@HOST/DATABASE`"
            raise StoreError("the address of the PostgreSQL server cannot be read", advice=advice) from None
        self._address = address
        self._schema = schema
        self._wanted = steps("postgres") if wanted is None else wanted
        self._lock = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._read_only: StoreError | None = None
        self._is_in_transaction = False
        self._is_committing = False
        self._uses_pgvector, self._vectors = pgvector, ""
        self.where = f"PostgreSQL, schema `{schema}`"

    def open(self) -> None:
        """Connect and bring the schema up to date."""
        with self._lock:
            if self._connection is None:
                try:
                    self._connection = self._connect()
                except self._psycopg.Error as error:
                    raise self._translate_error(error) from None

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        with self._lock:
            if self._is_in_transaction:
                raise StoreError("a transaction was begun inside another one", where=self.where)
            was_open = self._connection is not None
            try:
                return self._attempt(work)
            except ServerAwayError:
                # An idle connection may have died unnoticed. Nothing is committed yet (a commit that failed is not
                # tried again), so the work can be repeated once.
                if not was_open or self._is_committing:
                    raise
            return self._attempt(work)

    def listen(self, channel: str, receive: Callable[[str], None], ended: threading.Event) -> None:
        """Pass each notification of a channel to `receive`, on another connection, until `ended` is set."""
        name = self._psycopg.sql.Identifier(channel)
        while not ended.is_set():
            try:
                with self._psycopg.connect(
                    self._address, **_OPTIONS, **self._safe_options(), autocommit=True
                ) as connection:
                    connection.execute(self._psycopg.sql.SQL("LISTEN {}").format(name))
                    while not ended.is_set():
                        for notice in connection.notifies(timeout=LISTEN_SECONDS):
                            receive(notice.payload)
            except self._psycopg.Error:
                ended.wait(LISTEN_SECONDS)

    def close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _attempt(self, work: Callable[[Transaction], T]) -> T:
        self.open()
        connection = self._connection
        assert connection is not None
        self._is_in_transaction, self._is_committing = True, False
        try:
            result = work(_PostgresTransaction(connection, self._vectors))
            self._is_committing = True
            connection.commit()
        except (self._psycopg.Error, UnicodeEncodeError, OverflowError) as error:
            if isinstance(error, self._psycopg.errors.AdminShutdown | self._psycopg.errors.CrashShutdown):
                connection.close()  # the server has ended it, though the driver may not have read the end yet
            self._roll_back(connection)
            raise self._translate_error(error) from None
        except BaseException:
            self._roll_back(connection)
            raise
        finally:
            self._is_in_transaction = False
        return result

    def _connect(self) -> "psycopg.Connection[Any]":
        connection: psycopg.Connection[Any] = self._psycopg.connect(self._address, **_OPTIONS, **self._safe_options())
        try:
            self._configure(connection)
            self._update_schema(connection)
            self._vectors = self._find_pgvector(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _safe_options(self) -> dict[str, str]:
        """Return options that encrypt and verify a connection to another machine, unless the address has its own."""
        given = self._psycopg.conninfo.conninfo_to_dict(self._address)
        hosts = str(given.get("host") or given.get("hostaddr") or "").split(",")
        if all(host in {"", "localhost", "127.0.0.1", "::1"} or host.startswith(("/", "@")) for host in hosts):
            return {}
        mode = given.get("sslmode")
        if mode is None:
            return {"sslmode": "verify-full", "sslrootcert": str(given.get("sslrootcert") or "system")}
        if mode != "verify-full":
            self._add_problem(
                f"{self.where}: sslmode is `{mode}`, so the connection is not protected; use sslmode=verify-full"
            )
        return {}

    def _configure(self, connection: "psycopg.Connection[Any]") -> None:
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
        version = schema_version(tx, "postgres")
        if version < latest:
            # Held until the commit, so a second process finds the schema up to date.
            tx.rows("SELECT pg_advisory_xact_lock(?)", MIGRATION_LOCK)
            migrate(tx, "postgres", self._wanted)
        connection.commit()
        self._read_only = newer_schema_error(version, self.where) if version > latest else None
        if self._read_only:
            self._add_problem(str(self._read_only))
            connection.read_only = True

    def _find_pgvector(self, connection: "psycopg.Connection[Any]") -> str:
        if not self._uses_pgvector or self._read_only:
            return ""
        found = vectors_schema(connection, self._psycopg, MIGRATION_LOCK)
        connection.commit()
        return found

    def _roll_back(self, connection: "psycopg.Connection[Any]") -> None:
        try:
            connection.rollback()
        except self._psycopg.Error:
            connection.close()
        if connection.closed:
            self._connection = None

    def _translate_error(self, error: Exception) -> StoreError:
        detail = redact(" ".join(str(error).split()))
        if isinstance(error, self._psycopg.errors.ReadOnlySqlTransaction) and self._read_only:
            return self._read_only
        # A statement that timed out is also an OperationalError, but then the connection is still open.
        if isinstance(error, self._psycopg.OperationalError) and self._connection is None:
            advice = "check the address and the network"
            return ServerAwayError(f"cannot be reached: {detail}", where=self.where, advice=advice)
        if isinstance(error, self._psycopg.DataError | self._psycopg.IntegrityError | UnicodeEncodeError):
            return RefusedRowError(f"a row is refused: {detail}", where=self.where)
        return StoreError(detail, where=self.where)

    def _add_problem(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def open_database(address: str, *, low_latency: bool = False) -> PostgresDatabase:
    """Return the database at `postgresql://...` or at a libpq connection string."""
    return PostgresDatabase(address)


class _PostgresTransaction:
    dialect = "postgres"

    def __init__(self, connection: "psycopg.Connection[Any]", vectors: str = "") -> None:
        self._connection = connection
        self.vectors = vectors

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(_to_psycopg(sql), values).fetchall()

    def do(self, sql: str, *values: Any) -> int:
        return self._connection.execute(_to_psycopg(sql), values).rowcount


@lru_cache(maxsize=512)
def _to_psycopg(sql: str) -> Any:
    """
    Replace the placeholders `?` by those of psycopg.

    INVARIANT: Snell's SQL contains `?` as a placeholder only; texts are always values.
    """
    return sql.replace("%", "%%").replace("?", "%s")


def _driver() -> Any:
    try:
        import psycopg
    except ImportError:
        raise StoreError(f"PostgreSQL cannot be used: {missing_message('pg')}", advice=install_advice("pg")) from None
    return psycopg
