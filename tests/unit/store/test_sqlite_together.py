"""Several transactions with one commit: all are kept, or none."""

from pathlib import Path

import apsw
import pytest

from snell.model.errors import StoreError
from snell.records import marks
from snell.store.sqlite import SqliteDatabase


@pytest.fixture
def database(tmp_path: Path) -> SqliteDatabase:
    return SqliteDatabase(tmp_path / "state" / "snell.db")


def put(database: SqliteDatabase, name: str) -> None:
    database.run(lambda tx: marks.put(tx, "here", name, 1))


def kept(database: SqliteDatabase) -> set[str]:
    return set(database.run(lambda tx: marks.in_scope(tx, "here"), only_reads=True))


def test_all_parts_are_kept_with_one_commit(database: SqliteDatabase) -> None:
    others = SqliteDatabase(database.path)
    seen: list[set[str]] = []

    def work() -> None:
        put(database, "one")
        seen.append(kept(others))
        database.do("UPDATE marks SET name = ? WHERE name = ?", "first", "one")
        put(database, "two")

    others.open()
    database.in_one_commit(work)
    assert seen == [set()]
    assert kept(others) == {"first", "two"}
    put(database, "three")
    assert kept(others) == {"first", "two", "three"}


def test_a_part_that_fails_takes_all_back_though_its_error_was_caught(database: SqliteDatabase) -> None:
    def half(tx: object) -> None:
        marks.put(tx, "here", "half", 1)  # type: ignore[arg-type] # a transaction
        raise ValueError("changed my mind")

    def work() -> None:
        put(database, "before")
        with pytest.raises(ValueError, match="changed my mind"):
            database.run(half)
        with pytest.raises(StoreError):
            database.do("INSERT INTO nowhere VALUES (1)")
        put(database, "after")

    with pytest.raises(StoreError, match="a part of a transaction failed"):
        database.in_one_commit(work)
    assert kept(database) == set()
    put(database, "alone")
    assert kept(database) == {"alone"}


def test_a_part_has_no_parts(database: SqliteDatabase) -> None:
    def nested(_tx: object) -> None:
        put(database, "inner")

    with pytest.raises(StoreError, match="inside another"):
        database.in_one_commit(lambda: database.run(nested))
    assert kept(database) == set()


def test_when_the_whole_fails_nothing_is_kept_and_the_database_can_be_used(database: SqliteDatabase) -> None:
    def work() -> None:
        put(database, "one")
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        database.in_one_commit(work)
    assert kept(database) == set()
    put(database, "two")
    assert kept(database) == {"two"}


def test_a_transaction_that_ended_meanwhile_is_told(database: SqliteDatabase) -> None:
    """Some errors, such as a full disk, make SQLite take everything back at once."""

    def work() -> None:
        put(database, "one")
        connection = database._connection
        assert isinstance(connection, apsw.Connection)
        connection.execute("ROLLBACK")
        put(database, "two")

    with pytest.raises(StoreError):
        database.in_one_commit(work)
    assert kept(database) == {"two"}
