"""Watchers after the answer: in which thread, with which transaction, and what is entered of them."""

import threading
from pathlib import Path

import pytest

from snell import watches
from snell.model.decision import Decision
from snell.model.errors import StoreError
from snell.model.events import Event, event_from
from snell.model.hooks import Hook, Inline
from snell.records import ledger, marks
from snell.runtime.app import Runtime
from snell.runtime.context import new_id
from snell.runtime.database_journal import StoreJournal
from snell.runtime.pending_rows import FOLDER, PendingRows
from snell.runtime.watchers import LedgerRepair
from snell.store.sqlite import SqliteDatabase
from snell.system.paths import Places


def ended(number: int, *, session: str = "s", name: str = "PostToolUse", text: str = "") -> Event:
    return event_from(
        {"session_id": session, "tool_name": "Bash", "tool_input": {"command": f"ls {number} {text}"}}, name
    )


class Desk:
    def __init__(self, folder: Path) -> None:
        self.database = SqliteDatabase(folder / "state" / "snell.db")
        self.journal = StoreJournal(self.database)
        self.threads: list[str] = []
        self.fails: set[int] = set()
        where = Places(folder / "config", folder / "state", folder / "run")
        self.runtime = Runtime.embed(database=self.database, journal=self.journal, where=where)
        self.runtime.register(
            Hook(id="rows", event="PostToolUse", role="watches", handler=Inline(self.row, batches=True))
        )

    def row(self, event: Event) -> None:
        self.threads.append(threading.current_thread().name)
        number = int(event.payload["tool_input"]["command"].split()[1])
        self.database.run(lambda tx: marks.put(tx, "rows", str(number), 1))
        if number in self.fails:
            raise OverflowError("too large a number")

    def send(self, *events: Event) -> None:
        decided = []
        for event in events:
            work = self.runtime.prepare(event, new_id())
            decided.append((work, self.runtime.commit(work, self.runtime.run_to_end(work))))
        self.runtime.after_replies(decided, stays_here=True)

    @property
    def rows(self) -> set[str]:
        return set(self.database.run(lambda tx: marks.in_scope(tx, "rows"), only_reads=True))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_those_that_only_write_rows_run_here_and_all_others_elsewhere(desk: Desk) -> None:
    others: list[str] = []

    @watches("PostToolUse")
    def elsewhere(event: Event) -> None:
        others.append(threading.current_thread().name)

    desk.runtime.register(elsewhere)
    desk.send(ended(1), ended(2))
    desk.runtime.executor.close()
    assert desk.threads == [threading.current_thread().name] * 2
    assert len(others) == 2
    assert all(name.startswith("snell-later") for name in others)


def test_what_follows_a_long_event_is_not_done_where_others_wait(desk: Desk) -> None:
    desk.send(ended(1, text="x" * 20_000))
    desk.runtime.executor.close()
    assert desk.threads[0].startswith("snell-later")


def test_a_watcher_that_fails_is_entered_when_the_others_rows_are_kept(desk: Desk) -> None:
    """It must not be entered in the middle: the journal has a lock of its own, which another thread may hold."""
    desk.fails = {2}
    at_entry: list[set[str]] = []
    add_late = desk.journal.add_late

    def seen(decision_id: str, run: dict[str, object]) -> None:
        at_entry.append(desk.rows)
        add_late(decision_id, run)

    desk.journal.add_late = seen  # type: ignore[method-assign] # looked at on the way
    desk.send(ended(1), ended(2), ended(3))
    assert at_entry == [{"1", "2", "3"}] * 3


def test_two_threads_that_follow_up_do_not_wait_for_each_other(desk: Desk) -> None:
    desk.fails = set(range(0, 400, 2))

    def some(first: int) -> None:
        for number in range(first, first + 100, 4):
            desk.send(*(ended(number + each) for each in range(4)))

    threads = [threading.Thread(target=some, args=(first,), daemon=True) for first in (0, 100, 200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(25)
    assert not any(thread.is_alive() for thread in threads)
    assert len(desk.rows) == 400


def test_when_the_common_commit_fails_each_is_tried_by_itself(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def together(work: object) -> None:
        work()  # type: ignore[operator] # a function
        desk.database.run(lambda tx: marks.drop(tx, "rows"))  # as if nothing had been kept
        raise StoreError("the disk is full")

    monkeypatch.setattr(desk.database, "in_one_commit", together)
    desk.send(ended(1), ended(2))
    assert desk.rows == {"1", "2"}


def test_the_end_of_a_session_cancels_what_an_event_just_before_it_began(desk: Desk) -> None:
    began = Hook(id="slow", event="PostToolUse", role="watches", is_async=True, handler=Inline(lambda event: None))
    desk.runtime.register(began)
    desk.send(ended(1), ended(2, name="SessionEnd"))
    assert [ticket.cancel.is_set() for ticket in desk.runtime.background.all()] == [True]
    desk.runtime.executor.close()


def test_a_call_whose_decision_waits_for_the_database_is_written_after_it(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "snell.db")
    journal = StoreJournal(database, pending=PendingRows(tmp_path / FOLDER))
    repair, kept = LedgerRepair(database, journal), []
    for number in range(2):
        journal.commit(Decision(event=ended(number, name="PreToolUse"), id=f"{number}", in_ledger=True))
        repair.note_missing()
        assert not repair.catch_up()  # as after a lock that ends between the journal's turn and this one
        journal.flush()
        assert (repair.is_behind, repair.catch_up(), repair.is_behind) == (True, False, False)
        kept.append(len(database.run(ledger.recent)))
    assert kept == [1, 2]
    journal.close()
