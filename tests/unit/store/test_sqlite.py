"""What is special about SQLite: files, modes, damage, the log, migrations."""

import os
import re
import stat
from pathlib import Path

import apsw
import pytest

from snell.model.errors import StoreError
from snell.records import decisions, marks
from snell.records.decisions import Row
from snell.store import sqlite_files
from snell.store.migrate import Step, steps
from snell.store.sqlite import Durability, SqliteDatabase
from snell.testing.store_contract import do

LATEST = steps("sqlite")[-1].number
SECOND = Step(
    LATEST + 1, ("ALTER TABLE marks ADD COLUMN added TEXT NOT NULL DEFAULT 'new'", "CREATE TABLE more (n BIGINT)")
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "snell.db"


def with_a_mark(path: Path) -> None:
    database = SqliteDatabase(path)
    do(database, marks.put, "s", "n", 1)
    database.checkpoint()
    database.close()


def test_the_library_has_the_mended_log() -> None:
    """Older ones can lose what was committed while a checkpoint runs."""
    assert apsw.sqlite_lib_version() >= "3.51.3"


def test_everything_is_readable_by_its_owner_only(path: Path) -> None:
    database = SqliteDatabase(path)
    do(database, marks.put, "s", "n", 1)
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert modes == dict.fromkeys(["snell.db", "snell.db-wal", "snell.db-shm", "snell.db.lock"], 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    database.close()


def test_a_file_that_others_can_read_is_closed_to_them(path: Path) -> None:
    with_a_mark(path)
    path.chmod(0o644)
    SqliteDatabase(path).open()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("durability", ["process", "power"])
def test_the_settings_are_those_that_were_promised(path: Path, durability: Durability) -> None:
    database = SqliteDatabase(path, durability=durability)
    names = ["journal_mode", "synchronous", "busy_timeout", "journal_size_limit", "wal_autocheckpoint"]
    names += ["trusted_schema", "cell_size_check", "foreign_keys"]
    found = [database.run(lambda tx, name=name: tx.rows(f"PRAGMA {name}"))[0][0] for name in names]
    synchronous = 2 if durability == "power" else 1
    assert found == ["wal", synchronous, 5000, 64 * 1024 * 1024, 0, 0, 1, 1]
    database.close()


def test_a_link_in_place_of_the_file_is_refused(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    (tmp_path / "theirs.db").write_bytes(b"")
    path.symlink_to(tmp_path / "theirs.db")
    with pytest.raises(StoreError, match="is not a regular file; move it away"):
        SqliteDatabase(path).open()
    assert (tmp_path / "theirs.db").read_bytes() == b""


def test_a_linked_directory_above_is_followed(path: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with_a_mark(tmp_path / "link" / "state" / "snell.db")
    assert (tmp_path / "real" / "state" / "snell.db").exists()


@pytest.mark.parametrize(
    "content",
    [b"not a database at all, only text" * 40, bytes(8192), b"SQLite format 3\x00" + b"\xff" * 4080],
    ids=["text", "zeros", "header-only"],
)
def test_what_is_no_database_is_moved_aside_and_reported(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    database = SqliteDatabase(path)
    do(database, marks.put, "s", "n", 1)
    assert do(database, marks.get, "s", "n") == 1
    (kept,) = path.parent.glob("snell.db.bad-*T??????")
    assert kept.read_bytes() == content
    (problem,) = database.problems
    assert re.fullmatch(
        r"`.*/snell.db`: is damaged \(.+\) and was moved to `.*bad-.*`; a new file was created", problem
    )
    database.close()


def test_damage_that_shows_during_work_is_reported_and_work_goes_on(path: Path) -> None:
    database = SqliteDatabase(path)
    for number in range(2000):
        do(database, marks.put, "s", f"name-{number}", "x" * 50)
    database.checkpoint()
    database.close()
    with path.open("r+b") as file:
        file.seek(-25 * 4096, os.SEEK_END)  # the pages of the rows; the roots of all tables stand before them
        file.write(os.urandom(20 * 4096))
    (path.parent / "snell.db-wal").unlink()
    database.open()
    with pytest.raises(StoreError, match=r"was damaged \(.+\); this change is lost"):
        do(database, marks.in_scope, "s")
    assert do(database, marks.in_scope, "s") == {}
    assert (len(database.problems), len(list(path.parent.glob("snell.db.bad-*[0-9]")))) == (1, 1)
    assert database.check() == []
    database.close()


def test_the_whole_file_can_be_checked(path: Path) -> None:
    with_a_mark(path)
    database = SqliteDatabase(path)
    assert database.check() == []
    database.close()


def test_a_file_that_is_removed_while_in_use_is_noticed_at_the_next_checkpoint(path: Path) -> None:
    database = SqliteDatabase(path)
    do(database, marks.put, "s", "n", 1)
    for each in list(path.parent.iterdir()):
        each.unlink()
    database.checkpoint()
    do(database, marks.put, "s", "n", 2)
    assert path.exists()
    assert database.problems == [f"`{path}`: was removed or replaced while in use; its rows are lost"]
    database.close()
    assert do(SqliteDatabase(path), marks.get, "s", "n") == 2


def test_a_checkpoint_empties_a_long_log_while_the_writer_is_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_files, "TRUNCATE_AT", 100_000)
    database = SqliteDatabase(path)
    for number in range(100):
        do(database, marks.put, "s", "n", str(number) * 3000)
    assert database.log_size() > 100_000
    database.checkpoint()
    assert database.log_size() == 0
    do(database, marks.put, "s", "n", 1)
    assert 0 < database.log_size() < 100_000
    database.close()


def test_a_checkpoint_of_what_is_not_there_is_nothing(path: Path) -> None:
    SqliteDatabase(path).checkpoint()
    assert not path.exists()


def test_closing_leaves_what_another_connection_needs(path: Path) -> None:
    one, two = SqliteDatabase(path), SqliteDatabase(path)
    do(one, marks.put, "s", "n", 1)
    assert do(two, marks.get, "s", "n") == 1
    do(two, marks.put, "s", "m", 2)
    one.close()
    do(two, marks.put, "s", "o", 3)
    two.close()
    assert do(SqliteDatabase(path), marks.in_scope, "s") == {"n": 1, "m": 2, "o": 3}


@pytest.mark.proves("S2-39")
def test_a_migration_keeps_a_copy_of_what_was(path: Path) -> None:
    with_a_mark(path)
    database = SqliteDatabase(path, wanted=(*steps("sqlite"), SECOND))
    assert database.run(lambda tx: tx.rows("SELECT name, added FROM marks")) == [("n", "new")]
    database.close()
    (copy,) = path.parent.glob(f"snell.db.before-{LATEST + 1}-*T??????")
    assert do(SqliteDatabase(copy), marks.get, "s", "n") == 1
    with pytest.raises(StoreError, match="no such column: added"):
        SqliteDatabase(copy).run(lambda tx: tx.rows("SELECT added FROM marks"))


def test_a_new_file_needs_no_copy(path: Path) -> None:
    SqliteDatabase(path).open()
    assert list(path.parent.glob("*before*")) == []


def test_a_migration_that_fails_leaves_what_was(path: Path) -> None:
    with_a_mark(path)
    broken = Step(LATEST + 1, (*SECOND.statements, "CREATE TABLE nonsense ("))
    with pytest.raises(StoreError, match="incomplete input"):
        SqliteDatabase(path, wanted=(*steps("sqlite"), broken)).open()
    database = SqliteDatabase(path)
    assert (do(database, marks.get, "s", "n"), database.problems) == (1, [])
    with pytest.raises(StoreError, match="no such column: added"):
        database.run(lambda tx: tx.rows("SELECT added FROM marks"))


def test_no_more_than_ten_copies_are_kept(path: Path) -> None:
    path.parent.mkdir()
    for number in range(13):
        path.write_bytes(f"no database {number}".encode() * 100)
        database = SqliteDatabase(path)
        database.open()
        database.close()
        for log in path.parent.glob("snell.db-*"):
            log.unlink()
    kept = {each.read_bytes() for each in path.parent.glob("snell.db.bad-*")}
    assert kept == {f"no database {number}".encode() * 100 for number in range(3, 13)}


def test_text_that_cannot_be_written_is_an_error_and_not_a_crash(path: Path) -> None:
    database = SqliteDatabase(path)
    with pytest.raises(StoreError, match="surrogates not allowed"):
        do(database, decisions.add, Row(id="\ud800", at=0))
    with pytest.raises(StoreError, match="too big"):
        do(database, decisions.add, Row(id="a", at=2**70))
    assert do(database, decisions.recent) == []
    database.close()


def test_a_row_can_be_read_while_another_program_writes(path: Path) -> None:
    database, other = SqliteDatabase(path), SqliteDatabase(path)
    do(database, marks.put, "s", "n", 1)
    busy = apsw.Connection(str(path))
    busy.execute("BEGIN IMMEDIATE")
    database._connection.set_busy_timeout(10)  # type: ignore[union-attr]  # it is open
    with pytest.raises(StoreError, match="is in use by another program; try again"):
        do(database, marks.put, "s", "n", 2)
    busy.execute("ROLLBACK")
    do(database, marks.put, "s", "n", 3)
    assert do(other, marks.get, "s", "n") == 3
