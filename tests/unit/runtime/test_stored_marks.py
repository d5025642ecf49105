"""Marks that survive a restart, read from memory."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from snell.model.effects import Deny, Note
from snell.model.errors import StoreError
from snell.records import marks
from snell.runtime import stored_marks as stored
from snell.runtime.app import Runtime
from snell.runtime.stored_marks import StoredMarks
from snell.store.sqlite import SqliteDatabase
from snell.testing.store_contract import do
from tests.helpers import call, event, hook
from tests.waiting import wait_until


class Counting:
    """Counts transactions, and fails when told to."""

    def __init__(self, path: Path) -> None:
        self.inner = SqliteDatabase(path)
        self.count = 0
        self.is_broken = False

    def run(self, work: Any, **how: Any) -> Any:
        self.count += 1
        if self.is_broken:
            raise StoreError("the disk is full")
        return self.inner.run(work, **how)

    def close(self) -> None:
        self.inner.close()


@pytest.fixture
def database(tmp_path: Path) -> Counting:
    return Counting(tmp_path / "state" / "snell.db")


def test_a_question_that_was_asked_before_needs_no_database(database: Counting) -> None:
    store = StoredMarks(database)
    store.put("s", "n", 1)
    before = database.count
    assert [store.get("s", name) for name in ("n", "n", "unknown", "unknown")] == [1, 1, None, None]
    store.put("s", "n", 1)  # nothing changes
    assert database.count == before


def test_marks_are_there_after_a_restart(database: Counting) -> None:
    StoredMarks(database).put("s", "n", {"tuple": (1, 2)})
    assert StoredMarks(database).get("s", "n") == {"tuple": [1, 2]}


def test_what_comes_back_is_what_a_restart_would_give(database: Counting) -> None:
    store = StoredMarks(database)
    value = {"list": [1], "path": Path("/x")}
    store.put("s", "n", value)
    value["list"].append(2)  # type: ignore[attr-defined]  # a list
    assert store.get("s", "n") == {"list": [1], "path": "/x"}


def test_memory_holds_so_many_scopes_and_no_more(database: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "SCOPES", 3)
    store = StoredMarks(database)
    for number in range(10):
        store.put(f"s{number}", "n", number)
    store.get("s7", "n")
    store.get("s0", "n")
    assert list(store._scopes) == ["s9", "s7", "s0"]
    assert [store.get(f"s{number}", "n") for number in range(10)] == list(range(10))


def test_a_broken_database_costs_no_session_a_mark(database: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "SCOPES", 2)
    store = StoredMarks(database)
    store.put("s", "old", 1)
    database.is_broken = True
    store.put("s", "n", 1)
    store.put("s", "n", 2)
    store.drop("s", "old")
    for number in range(5):
        store.put(f"other{number}", "n", number)
    assert store.problem == "marks could not be written: the disk is full"
    assert [store.get("s", "n"), store.get("s", "old"), store.get("other0", "n")] == [2, None, 0]
    database.is_broken = False
    store.put("s", "last", 3)
    assert (store.problem, do(database, marks.in_scope, "s")) == ("", {"n": 2, "last": 3})
    assert do(database, marks.in_scope, "other0") == {"n": 0}


def test_marks_that_cannot_be_read_are_asked_for_again(database: Counting) -> None:
    StoredMarks(database).put("s", "n", 1)
    store = StoredMarks(database)
    database.is_broken = True
    assert store.get("s", "n") is None
    assert store.problem == "marks could not be read: the disk is full"
    database.is_broken = False
    assert store.get("s", "n") == 1


def test_a_hook_that_runs_once_does_so_across_restarts(database: Counting) -> None:
    def runs() -> list[str]:
        runtime = Runtime.embed(hook("first", Note("hello"), role="informs", once=True), marks=StoredMarks(database))
        notes = runtime.decide(call()).note
        runtime.close()
        return [notes]

    assert [runs(), runs()] == [["hello"], [""]]


def test_stops_are_counted_across_restarts(database: Counting) -> None:
    verdicts = []
    for _ in range(5):
        runtime = Runtime.embed(hook("go-on", Deny("more"), on="Stop", role="judges"), marks=StoredMarks(database))
        verdicts.append(runtime.decide(event("Stop")).verdict.name)
        runtime.close()
    assert verdicts == ["DENY", "DENY", "DENY", "NO_OPINION", "NO_OPINION"]


def test_the_end_of_a_session_forgets_its_marks(database: Counting) -> None:
    runtime = Runtime.embed(marks=StoredMarks(database))
    runtime.store.put("session:s1", "n", 1)
    runtime.store.put("session:s2", "n", 1)
    runtime.decide(event("SessionEnd"))
    runtime.close()
    assert [do(database, marks.in_scope, f"session:{name}") for name in ("s1", "s2")] == [{}, {"n": 1}]


def test_who_waits_for_a_mark_in_a_transaction_and_who_reads_marks_never_wait_for_each_other(
    database: Counting,
) -> None:
    kept = StoredMarks(database)
    kept.put("session:known", "name", 1)
    is_inside, may_end = Event(), Event()

    def look(_tx: Any) -> Any:
        is_inside.set()
        assert may_end.wait(20)
        return kept.get("session:known", "name")

    with ThreadPoolExecutor(3) as pool:
        found = pool.submit(database.run, look)
        assert is_inside.wait(20)
        others = [pool.submit(kept.get, "session:other", "name"), pool.submit(kept.put, "session:known", "more", 2)]
        wait_until(lambda: database.count == 5)  # both of them are at the door of the database
        may_end.set()
        assert [each.result(20) for each in (found, *others)] == [1, None, None]


def test_a_secret_in_the_name_of_a_mark_is_not_written_down(database: Counting) -> None:
    names = [f"seen:{'gh' + 'p_'}{digit}7Rz2Lw9Xk4Tn8Vb3Hd6Jm1Pc5Yg0FsAbCd9" for digit in "12"]
    store = StoredMarks(database)
    for number, name in enumerate(names):
        store.put("s", name, number)
    store.put("s", "plain", 7)
    written = database.run(lambda tx: tx.rows("SELECT name FROM marks ORDER BY name"))
    assert [name.partition(" #")[0] for (name,) in written] == ["plain", *["seen:[redacted:github-token]"] * 2]
    for each in (store, again := StoredMarks(database)):
        assert [each.get("s", name) for name in (*names, "plain", "seen:other")] == [0, 1, 7, None]
    again.put("s", names[0], 5)
    again.drop("s", names[1])
    assert [again.get("s", name) for name in names] == [5, None]
    assert [StoredMarks(database).get("s", name) for name in names] == [5, None]
