"""A store backend is one file and one line: a registry line, or an entry point of another distribution."""

from collections.abc import Callable
from pathlib import Path

import pytest

from snell.model.errors import StoreError
from snell.model.protocols import Database
from snell.records import decisions, ledger
from snell.runtime.app import Runtime
from snell.runtime.database_journal import StoreJournal
from snell.runtime.stored_marks import StoredMarks
from snell.store import BACKENDS, open_database
from snell.store.sqlite import SqliteDatabase
from snell.testing.store_contract import check_store, store_contract

# The complete backend: a rollback journal, one writer at a time.
BACKEND = """
import threading
from pathlib import Path

import apsw

from snell.model.errors import StoreError
from snell.model.protocols import Database
from snell.store.migrate import migrate, steps


class ScratchDatabase(Database):
    def __init__(self, path):
        self.path, self._lock, self._connection = path, threading.RLock(), None

    def run(self, work, *, only_reads=False):
        with self._lock:
            connection = self._connect()
            if connection.in_transaction:
                raise StoreError("a transaction was begun inside another one")
            try:
                connection.execute("BEGIN IMMEDIATE")
                result = work(ScratchTransaction(connection))
                connection.execute("COMMIT")
                return result
            except apsw.Error as error:
                raise StoreError(str(error)) from None
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self):
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _connect(self):
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = apsw.Connection(str(self.path))
            self._connection.set_busy_timeout(10_000)
            self._connection.execute("PRAGMA foreign_keys = 1")
            self.run(lambda tx: migrate(tx, "sqlite", steps("sqlite")))
        return self._connection


class ScratchTransaction:
    dialect, vectors = "sqlite", ""

    def __init__(self, connection):
        self._connection = connection

    def rows(self, sql, *values):
        return self._connection.execute(sql, values).fetchall()

    def do(self, sql, *values):
        self._connection.execute(sql, values)
        return self._connection.changes()


def open_database(address, *, low_latency=False):
    return ScratchDatabase(Path(address.removeprefix("scratch:")))
"""


@pytest.fixture(params=["registry", "entry point"])
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Database]:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "scratch_store.py").write_text(BACKEND)
    if request.param == "registry":
        monkeypatch.setitem(BACKENDS, "scratch", "scratch_store")
    else:
        (folder / "scratch-1.0.dist-info").mkdir()
        (folder / "scratch-1.0.dist-info" / "METADATA").write_text("Name: scratch\nVersion: 1.0\n")
        (folder / "scratch-1.0.dist-info" / "entry_points.txt").write_text("[snell.stores]\nscratch = scratch_store\n")
    monkeypatch.syspath_prepend(folder)
    return lambda place: open_database(f"scratch:{tmp_path}/{place}.db")


def test_another_backend_keeps_the_contract(make: Callable[[str], Database]) -> None:
    store_contract(make)
    database = make("marks")
    check_store(lambda: StoredMarks(database))
    database.close()


def test_a_runtime_works_on_another_backend(make: Callable[[str], Database], tmp_path: Path) -> None:
    database = make("runtime")
    options = {"database": database, "marks": StoredMarks(database), "journal": StoreJournal(database)}
    with Runtime.embed(**options) as runtime:
        decision = runtime.fire("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, session_id="s")
    (row,) = make("runtime").run(decisions.recent)
    assert (row.event, row.tool, row.verdict) == ("PreToolUse", "Bash", decision.verdict.name.lower())
    call = ledger.Call(tool_call_id="s/1", raw_tool_name="Bash")
    assert database.run(lambda tx: ledger.begin(tx, call))
    database.in_one_commit(lambda: database.do("DELETE FROM decisions"))
    assert (database.check(), database.size(), database.log_path, database.problems) == ([], 0, "", ())
    database.close()


def test_an_address_names_its_backend(tmp_path: Path) -> None:
    for address in (tmp_path / "snell.db", f"sqlite:{tmp_path}/snell.db"):
        database = open_database(address)
        assert isinstance(database, SqliteDatabase)
        assert database.path == tmp_path / "snell.db"
    with pytest.raises(StoreError, match="there is no store backend `oracle`; begin the address with `sqlite:`"):
        open_database("oracle:somewhere")
    with pytest.raises(StoreError, match="PostgreSQL"):
        open_database("host")
