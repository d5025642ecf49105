"""Rows that are answered for before they are in the database."""

import errno
import os
from pathlib import Path

import apsw
import pytest

from snell.model.decision import Decision
from snell.model.events import event_from
from snell.records import decisions
from snell.records.decisions import Row
from snell.runtime import database_journal, pending_rows
from snell.runtime.database_journal import StoreJournal
from snell.runtime.pending_rows import FOLDER, ROOM, PendingRows, pending_files
from snell.store.sqlite import SqliteDatabase

EVENT = event_from({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}, "PreToolUse")


def row(number: int) -> Row:
    return Row(id=f"id-{number}", at=number, session_id="s")


def pending_in(folder: Path) -> list[tuple[list[str], bool]]:
    with pending_files(folder) as files:
        return [([each.id for each in file.records()], file.is_orphaned) for file in files]


def in_database(database: SqliteDatabase) -> list[str]:
    return [each.id for each in database.run(lambda tx: decisions.recent(tx, limit=1000))]


def test_rows_of_a_living_process_are_seen_and_left_alone(tmp_path: Path) -> None:
    rows = PendingRows(tmp_path)
    assert rows.append(row(1))
    assert rows.append(row(2))
    assert pending_in(tmp_path) == [(["id-1", "id-2"], False)]
    assert pending_in(tmp_path) == [(["id-1", "id-2"], False)]


def test_rows_of_a_process_that_is_gone_are_found_and_their_file_is_removed(tmp_path: Path) -> None:
    rows = PendingRows(tmp_path)
    rows.append(row(1))
    rows.close()  # with a row that was not saved, as the end of the process would
    assert pending_in(tmp_path) == [(["id-1"], True)]
    assert os.listdir(tmp_path) == []


def test_a_file_whose_rows_are_saved_leaves_nothing_behind(tmp_path: Path) -> None:
    rows = PendingRows(tmp_path)
    rows.append(row(1))
    rows.mark_saved(is_quiet=True)
    assert pending_in(tmp_path) == [([], False)]
    rows.close()
    assert os.listdir(tmp_path) == []


def test_a_row_that_was_being_written_when_the_process_ended_is_not_read(tmp_path: Path) -> None:
    rows = PendingRows(tmp_path)
    rows.append(row(1))
    rows.append(row(2))
    rows.close()
    (path,) = tmp_path.iterdir()
    data = path.read_bytes()
    path.write_bytes(data[: len(data.rstrip(b"\0")) - 5])
    assert pending_in(tmp_path) == [(["id-1"], True)]


def no_room(descriptor: int, start: int, length: int) -> None:
    raise OSError(errno.ENOSPC, "no space")


def test_a_full_disk_takes_no_further_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_rows, "ROOM", 300)
    rows = PendingRows(tmp_path)
    assert rows.append(row(0))
    monkeypatch.setattr(pending_rows, "_reserve", no_room)
    assert [rows.append(row(number)) for number in range(2)] == [False, False]
    rows.mark_saved(is_quiet=True)
    assert rows.append(row(3))


def test_a_file_grows_while_its_rows_cannot_be_saved_and_is_short_again_afterwards(tmp_path: Path) -> None:
    rows = PendingRows(tmp_path)
    number = 3 * ROOM // 200
    assert all(rows.append(row(each)) for each in range(number))
    (file,) = tmp_path.glob("*.rows")
    ids = [f"id-{each}" for each in range(number)]
    assert ([each.id for each, _ in rows.read()], pending_in(tmp_path)) == (ids, [(ids, False)])
    assert file.stat().st_size > ROOM
    rows.mark_saved()
    assert (file.stat().st_size, list(rows.read()), pending_in(tmp_path)) == (ROOM, [], [([], False)])
    assert rows.append(row(1))


def test_rows_for_which_there_is_no_room_in_memory_are_saved_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_journal, "UNSAVED", 5)
    database = SqliteDatabase(tmp_path / "snell.db")
    journal = StoreJournal(database, pending=PendingRows(tmp_path / FOLDER))
    ids = [f"1a-{number:02}" for number in range(20)]
    for id_ in ids:
        journal.commit(Decision(event=EVENT, id=id_), "key")
    assert journal.waiting == 20
    journal.record({"id": ids[-1], "event": "PreToolUse"})
    rows = database.run(lambda tx: decisions.rows_after(tx, 0, 100))
    assert ([each.id for each in rows], {each.request_key for each in rows}) == (ids, {"key"})
    assert (journal.waiting, journal.lost) == (0, 0)
    journal.close()
    database.close()


def test_where_no_file_can_be_made_no_row_is_promised(tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("", encoding="utf-8")
    rows = PendingRows(tmp_path / "in the way")
    assert not rows.append(row(1))
    assert not rows.append(row(2))


def test_a_journal_answers_every_reader_for_a_pending_row(tmp_path: Path) -> None:
    ours, theirs = SqliteDatabase(tmp_path / "snell.db"), SqliteDatabase(tmp_path / "snell.db")
    journal = StoreJournal(ours, pending=PendingRows(tmp_path / FOLDER))
    journal.commit(Decision(event=EVENT, id="1"), "key")
    assert in_database(theirs) == []
    assert [each.id for each in StoreJournal(theirs).recent()] == ["1"]
    journal.record({"id": "1", "event": "PreToolUse"})
    assert in_database(theirs) == ["1"]
    journal.close()
    assert os.listdir(tmp_path / FOLDER) == []


def test_a_row_that_was_left_behind_is_in_the_journal_once(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "snell.db")
    rows = PendingRows(tmp_path / FOLDER)
    rows.append(row(1))
    rows.close()
    for _ in range(2):
        assert [each.id for each in StoreJournal(database).recent()] == ["id-1"]
    assert os.listdir(tmp_path / FOLDER) == []


def test_rows_that_wait_for_a_trace_too_long_go_without_one(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "snell.db")
    journal = StoreJournal(database, pending=PendingRows(tmp_path / FOLDER))
    for number in range(251):
        journal.commit(Decision(event=EVENT, id=f"{number}"))
    assert len(in_database(database)) == 251


def test_a_row_that_was_taken_back_is_not_in_the_journal(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "snell.db")
    journal = StoreJournal(database, pending=PendingRows(tmp_path / FOLDER))
    for id_ in ("1", "2", "3"):
        journal.commit(Decision(event=EVENT, id=id_), f"key {id_}")
        journal.retract("2")
    journal.retract("1")  # not the last one
    assert [StoreJournal(database).id_of_delivery(f"key {id_}") for id_ in "1234"] == ["1", "", "3", ""]
    journal.close()
    assert sorted(in_database(database)) == ["1", "3"]
    assert [StoreJournal(database).id_of_delivery(f"key {id_}") for id_ in "123"] == ["1", "", "3"]


def test_traces_that_the_database_does_not_take_wait_in_the_file(tmp_path: Path) -> None:
    """As when a daemon that hangs has locked it, and the process that decides without it has to end."""
    journal = StoreJournal(
        SqliteDatabase(tmp_path / "snell.db", low_latency=True), pending=PendingRows(tmp_path / FOLDER)
    )
    reader = SqliteDatabase(tmp_path / "snell.db")
    reader.open()
    other = apsw.Connection(str(tmp_path / "snell.db"))
    other.execute("BEGIN IMMEDIATE")
    for number in range(3):
        journal.commit(Decision(event=EVENT, id=f"1a-{number}"))
        journal.record({"id": f"1a-{number}", "event": "PreToolUse", "merge": [f"number {number}"]})
    assert journal.problem
    journal.close()
    other.execute("ROLLBACK")
    read = StoreJournal(reader)
    assert [read.find(f"1a-{number}")["merge"] for number in range(3)] == [[f"number {number}"] for number in range(3)]
    assert (len(in_database(reader)), os.listdir(tmp_path / FOLDER)) == (3, [])


def test_a_long_file_is_written_in_several_transactions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_journal, "UNSAVED", 5)
    monkeypatch.setattr(database_journal, "AT_ONCE", 7)
    database = SqliteDatabase(tmp_path / "snell.db")
    journal = StoreJournal(database, pending=PendingRows(tmp_path / FOLDER))
    ids = [f"1a-{number:02}" for number in range(20)]
    for id_ in ids:
        journal.commit(Decision(event=EVENT, id=id_))
    journal.flush()
    assert (len(in_database(database)), journal.waiting > 0) == (7, True)
    journal.commit(Decision(event=EVENT, id="1a-99"))
    while journal.waiting:
        journal.flush()
    assert (sorted(in_database(database)), journal.waiting) == ([*ids, "1a-99"], 0)
    journal.close()
    assert os.listdir(tmp_path / FOLDER) == []
