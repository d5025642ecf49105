"""The way to a server. Here another SQLite file plays it; the real one is in tests/contracts."""

from pathlib import Path

import pytest

from snell.model.errors import StoreError
from snell.records import decisions, marks, retention
from snell.records.decisions import Row
from snell.store.replication.decisions import Decisions, ReplicationPosition, position
from snell.store.replication.replicator import Replicator
from snell.store.sqlite import SqliteDatabase
from snell.testing.store_contract import do


@pytest.fixture
def local(tmp_path: Path) -> SqliteDatabase:
    return SqliteDatabase(tmp_path / "local" / "snell.db")


@pytest.fixture
def server(tmp_path: Path) -> SqliteDatabase:
    return SqliteDatabase(tmp_path / "server" / "snell.db")


def write(database: SqliteDatabase, first: int, number: int, *, traces: bool = False) -> None:
    rows = [Row(id=f"id-{each:06}", at=each, session_id="s") for each in range(first, first + number)]
    for row in rows:
        do(database, decisions.add, row)
        if traces:
            do(database, decisions.add_trace, row.id, f'{{"id":"{row.id}"}}')


def ids(database: SqliteDatabase) -> list[str]:
    return [row.id for row in do(database, decisions.rows_after, 0, 10_000)]


def test_everything_goes_once_and_in_order(local: SqliteDatabase, server: SqliteDatabase) -> None:
    write(local, 0, 1_203, traces=True)
    spool = Decisions(local, server)
    assert (spool.exchange(), spool.exchange()) == (2_406, 0)
    assert ids(server) == ids(local)
    assert do(server, decisions.traces_after, 0, 10_000) == do(local, decisions.traces_after, 0, 10_000)
    assert do(local, position) == ReplicationPosition(decisions=1_203, traces=1_203)


def test_what_is_sent_again_after_a_crash_counts_once(local: SqliteDatabase, server: SqliteDatabase) -> None:
    write(local, 0, 70, traces=True)
    Decisions(local, server).exchange()
    do(local, marks.drop, "spool")
    assert Decisions(local, server).exchange() == 140
    assert ids(server) == ids(local)
    assert len(do(server, decisions.traces_after, 0, 1_000)) == 70


def test_what_comes_late_follows(local: SqliteDatabase, server: SqliteDatabase) -> None:
    write(local, 0, 3, traces=True)
    spool = Decisions(local, server)
    spool.exchange()
    do(local, decisions.add_late, "id-000001", {"hook": "slow"})
    assert spool.exchange() == 1
    found = do(server, decisions.trace, "id-000001")
    assert found
    assert (found.body, found.late) == ('{"id":"id-000001"}', '[{"hook":"slow"}]')


def test_a_server_that_is_away_costs_nothing_but_time(local: SqliteDatabase, tmp_path: Path) -> None:
    place = tmp_path / "server"
    place.write_text("no directory", encoding="utf-8")
    server = SqliteDatabase(place / "snell.db")
    spool = Decisions(local, server)
    for first in (0, 60):
        write(local, first, 60, traces=True)
        with pytest.raises(StoreError):
            spool.exchange()
    place.unlink()
    assert spool.exchange() == 240
    assert ids(server) == ids(local)


def test_retention_leaves_what_the_server_does_not_have(local: SqliteDatabase, server: SqliteDatabase) -> None:
    write(local, 0, 20)
    spool = Decisions(local, server)
    spool.exchange()
    write(local, 20, 20)
    now = 1_000 * retention.DAY_MS
    assert do(local, retention.expire_decisions, now=now, up_to=do(local, position).decisions) == 20
    assert ids(local) == [f"id-{each:06}" for each in range(20, 40)]
    spool.exchange()
    assert len(ids(server)) == 40


def test_traces_of_decisions_that_the_server_has_dropped_are_left_out(
    local: SqliteDatabase, server: SqliteDatabase
) -> None:
    write(local, 0, 2)
    spool = Decisions(local, server)
    spool.exchange()
    server.run(lambda tx: tx.do("DELETE FROM decisions WHERE id = 'id-000000'"))
    for each in ("id-000000", "id-000001"):
        do(local, decisions.add_trace, each, "{}")
    assert spool.exchange() == 2
    assert [trace.decision_id for trace in do(server, decisions.traces_after, 0, 10)] == ["id-000001"]


def test_the_thread_is_woken_by_enough_rows_and_ends_when_told(local: SqliteDatabase, server: SqliteDatabase) -> None:
    write(local, 0, 50)
    spool = Replicator(Decisions(local, server))
    spool.start()
    spool.notify_change(50)
    (thread,) = spool._threads
    for _ in range(2_000):
        if do(local, position).decisions == 50:
            break
        thread.join(0.005)
    spool.stop()
    assert (len(ids(server)), thread.is_alive(), spool.problem) == (50, False, "")
