"""The spool and a real PostgreSQL that comes and goes."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from snell.model.errors import StoreError
from snell.model.protocols import Transaction
from snell.records import decisions, marks
from snell.records.decisions import Row
from snell.store.postgres import PostgresDatabase, ServerAwayError
from snell.store.replication.decisions import Decisions
from snell.store.replication.replicator import Replicator
from snell.store.sqlite import SqliteDatabase
from snell.testing.store_contract import do
from tests.postgres_server import TestDatabase
from tests.waiting import wait_until

pytestmark = pytest.mark.process

BOUND = 20.0


@pytest.fixture
def local(tmp_path: Path) -> SqliteDatabase:
    return SqliteDatabase(tmp_path / "state" / "snell.db")


def write(database: SqliteDatabase, first: int, number: int) -> None:
    for each in range(first, first + number):
        do(database, decisions.add, Row(id=f"id-{each:06}", at=each, session_id="s", ms=0.5))
        do(database, decisions.add_trace, f"id-{each:06}", f'{{"number":{each}}}')


def ids(database: SqliteDatabase | PostgresDatabase) -> list[str]:
    return [row.id for row in do(database, decisions.rows_after, 0, 10_000)]


def test_nothing_is_lost_or_doubled_while_the_server_comes_and_goes(
    local: SqliteDatabase, postgres: TestDatabase, on_postgres: Callable[[str], PostgresDatabase]
) -> None:
    server = on_postgres("away")
    spool = Decisions(local, server)
    write(local, 0, 60)
    assert spool.exchange() == 120
    postgres.stop()
    try:
        write(local, 60, 700)
        with pytest.raises(ServerAwayError, match=r"cannot be reached: .*; check the address and the network"):
            spool.exchange()
    finally:
        postgres.start()
    began = time.monotonic()
    assert spool.exchange() == 1_400
    print(json.dumps({"fault": "server away", "caught_up": 1_400, "seconds": round(time.monotonic() - began, 3)}))
    assert ids(server) == ids(local)
    assert [(each.body, each.late) for each in do(server, decisions.traces_after, 0, 10_000)] == [
        (f'{{"number":{each}}}', "[]") for each in range(760)
    ]
    server.close()


def test_a_connection_that_died_unnoticed_is_made_again(
    postgres: TestDatabase, on_postgres: Callable[[str], PostgresDatabase]
) -> None:
    server = on_postgres("again")
    do(server, marks.put, "s", "n", 1)
    postgres.stop()
    postgres.start()
    assert do(server, marks.get, "s", "n") == 1
    server.close()


def test_one_row_that_is_refused_does_not_keep_the_others_back(
    local: SqliteDatabase, on_postgres: Callable[[str], PostgresDatabase]
) -> None:
    server = on_postgres("refused")
    write(local, 0, 5)
    do(local, decisions.add, Row(id="id-bad", at=0, session_id="nul\x00"))
    write(local, 5, 5)
    spool = Decisions(local, server)
    spool.exchange()
    assert ids(server) == [each for each in ids(local) if each != "id-bad"]
    assert (spool.link.refused, len(do(server, decisions.traces_after, 0, 100))) == (1, 10)
    server.close()


def test_a_slow_statement_is_ended(on_postgres: Callable[[str], PostgresDatabase]) -> None:
    server = on_postgres("slow")
    server.open()
    with pytest.raises(StoreError, match="statement timeout"):
        server.run(slow)
    assert server.run(lambda tx: tx.rows("SELECT 1")) == [(1,)]
    server.close()


def slow(tx: Transaction) -> None:
    tx.do("SET LOCAL statement_timeout TO 20")
    tx.rows("SELECT pg_sleep(30)")


def test_the_thread_catches_up_by_itself(
    local: SqliteDatabase,
    postgres: TestDatabase,
    on_postgres: Callable[[str], PostgresDatabase],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Decisions, "every", 0.05)
    server, seen_from_here = on_postgres("thread"), on_postgres("thread")
    spool = Replicator(Decisions(local, server))
    spool.start()
    try:
        write(local, 0, 30)
        wait_until(lambda: len(ids(seen_from_here)) == 30)
        postgres.stop()
        try:
            write(local, 30, 30)
            wait_until(lambda: "rows wait on this machine" in spool.problem)
        finally:
            postgres.start()
        wait_until(lambda: len(ids(seen_from_here)) == 60 and spool.problem == "")
    finally:
        spool.stop()
    assert ids(seen_from_here) == ids(local)
    seen_from_here.close()
    server.close()
