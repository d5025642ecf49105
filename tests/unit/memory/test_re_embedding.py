"""Vectors of an earlier make are made anew, a few at a time, and nothing else changes."""

from pathlib import Path

import pytest

from snell.llm.embeddings.static_vectors import signature_of, vector_of
from snell.memory.remember import AT_ONCE, remember
from snell.memory.service import Memories
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft
from snell.store.migrate import steps
from snell.store.sqlite import SqliteDatabase

NUMBER = AT_ONCE + 30


def texts() -> list[str]:
    return [f"Parcel number {number} goes to the harbour" for number in range(NUMBER)]


@pytest.fixture
def database(tmp_path: Path):
    """With memories whose vectors an earlier Snell made."""
    before = SqliteDatabase(tmp_path / "m.db")

    def fill(tx) -> None:
        for text in texts():
            remember(tx, Draft(content=text, project="p"), shortlist_of(before), similar=2, is_gated=False)
        tx.do("UPDATE memories SET vector = ?, signature = ?, vector_make = 'static-1'", bytes(256), bytes(32))

    before.run(fill)
    before.close()
    after = SqliteDatabase(tmp_path / "m.db")
    yield after
    after.close()


def rows(database: SqliteDatabase):
    sql = "SELECT content, vector, signature, vector_make FROM memories ORDER BY seq"
    return database.run(lambda tx: tx.rows(sql))


def renewed():
    return [(text, vector_of(text), signature_of(vector_of(text)), "static-3") for text in texts()]


def test_they_are_made_anew_while_there_is_time_and_nothing_is_lost(database: SqliteDatabase) -> None:
    memories = Memories(database)
    assert (memories.re_embed_outdated(seconds=0), memories.is_current) == (0, False)
    assert (memories.re_embed_outdated(seconds=60), memories.is_current) == (NUMBER, True)
    assert rows(database) == renewed()
    assert memories.re_embed_outdated(seconds=60) == 0


def test_the_timer_does_it_too(database: SqliteDatabase) -> None:
    Memories(database).maintain()
    assert rows(database)[-1] == renewed()[-1]


def test_others_who_keep_signatures_read_them_again(database: SqliteDatabase, tmp_path: Path) -> None:
    wanted = "The dentist stays silent about teeth"
    other = SqliteDatabase(tmp_path / "m.db")

    def near(tx) -> list[int]:
        return shortlist_of(other).near(tx, vector_of("a physician for the mouth"), project="p", most=1)

    def hide(tx) -> int:
        remember(tx, Draft(content=wanted, project="p"), shortlist_of(database), similar=2, is_gated=False)
        tx.do("UPDATE memories SET signature = ?, vector_make = 'static-1' WHERE content = ?", b"\xff" * 32, wanted)
        return int(tx.rows("SELECT max(seq) FROM memories")[0][0])

    Memories(database).re_embed_outdated(seconds=60)
    hidden = database.run(hide)
    assert other.run(near) != [hidden]
    Memories(database).re_embed_outdated(seconds=60)
    assert other.run(near) == [hidden]
    other.close()


def test_vectors_that_a_newer_snell_made_stay(database: SqliteDatabase) -> None:
    database.run(lambda tx: tx.do("UPDATE memories SET vector_make = 'static-3'"))
    before = rows(database)
    assert Memories(database).re_embed_outdated(seconds=60) == 0
    assert rows(database) == before


def test_a_database_of_an_earlier_snell_gets_the_column_and_keeps_its_memories(tmp_path: Path) -> None:
    until_nine = tuple(step for step in steps("sqlite") if step.number < 10)
    old = SqliteDatabase(tmp_path / "old.db", wanted=until_nine)
    columns = (
        "id, vector, signature, dense_model, project, namespace, content, content_hash, tags, metadata, importance,"
        " source, agent, created_at, updated_at, accessed_at, accesses"
    )
    values = ("a", b"\1" * 256, b"\0" * 32, "", "p", "default", texts()[0], "h", "[]", "{}", 0.5, "", "", 1, 1, 1, 0)
    old.run(lambda tx: tx.do(f"INSERT INTO memories ({columns}) VALUES ({', '.join('?' * len(values))})", *values))
    old.close()
    new = SqliteDatabase(tmp_path / "old.db")
    assert [row[3] for row in rows(new)] == ["static-1"]
    assert Memories(new).re_embed_outdated(seconds=60) == 1
    assert rows(new) == renewed()[:1]
    new.close()
