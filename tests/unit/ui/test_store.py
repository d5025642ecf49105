"""The page's own connection to the store: it reads, it notices changes, and it cannot write."""

from pathlib import Path

import pytest

from snell.model.errors import StoreError
from snell.model.tables import get_meta, put_meta
from snell.store.sqlite import SqliteDatabase
from snell.ui.store import Changes, ReadOnlyStore


@pytest.fixture
def database(tmp_path: Path) -> SqliteDatabase:
    database = SqliteDatabase(tmp_path / "snell.db")
    database.run(lambda tx: put_meta(tx, "word", "one"))
    return database


def test_it_reads_what_another_connection_wrote_and_refuses_to_write(database: SqliteDatabase):
    store = ReadOnlyStore(database.path)
    assert store.run(lambda tx: get_meta(tx, "word")) == "one"
    with pytest.raises(StoreError):
        store.run(lambda tx: put_meta(tx, "word", "two"))
    with pytest.raises(StoreError):
        store.run(lambda tx: tx.rows("DELETE FROM meta"))
    assert database.run(lambda tx: get_meta(tx, "word")) == "one"


def test_a_store_that_is_missing_is_said_to_be_so(tmp_path: Path):
    store = ReadOnlyStore(tmp_path / "snell.db")
    assert (store.exists, store.size()) == (False, 0)
    with pytest.raises(StoreError, match="cannot be read"):
        store.run(lambda tx: get_meta(tx, "word"))
    assert not store.path.exists()


def test_the_number_of_changes_grows_with_commits_alone_also_of_a_new_file(database: SqliteDatabase):
    changes = Changes(database.path)
    first = changes.look()
    assert changes.look() == first
    database.run(lambda tx: put_meta(tx, "word", "two"))
    second = changes.look()
    assert second != first
    assert changes.look() == second
    database.close()
    for each in database.path.parent.glob("snell.db*"):
        each.unlink()
    third = changes.look()
    SqliteDatabase(database.path).run(lambda tx: put_meta(tx, "word", "three"))
    assert len({first, second, third, changes.look()}) == 4
    changes.close()
