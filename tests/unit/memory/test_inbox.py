"""The inbox: whole files in order, nothing lost, nothing for ever."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from snell.memory.inbox import LARGEST, Inbox, InboxFullError

HOUR = 3_600.0


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path / "memory")


def names(inbox: Inbox, folder: str) -> list[str]:
    return sorted(os.listdir(inbox.root / folder))


@pytest.mark.proves("S4-53", "S4-117")
def test_what_is_delivered_waits_whole_and_only_for_its_owner(inbox: Inbox) -> None:
    path = inbox.deliver(b"hello")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"hello", 0o600)
    assert (names(inbox, "tmp"), inbox.waiting(10), inbox.root.stat().st_mode & 0o777) == ([], [path], 0o700)


OPENED = """
import sys
from pathlib import Path
from snell.memory.inbox import Inbox
opened = []
sys.addaudithook(lambda name, given: opened.append(str(given[0])) if name == "open" else None)
Inbox(Path(sys.argv[1])).deliver_all([b"x", b"y"])
folders = {Path(path).parent.name for path in opened if Path(path).suffix == ".json"}
sys.exit(" ".join(sorted(folders)))
"""


@pytest.mark.proves("S4-117")
def test_a_file_is_written_elsewhere_and_appears_when_it_is_whole(inbox: Inbox) -> None:
    """So a process that reads at the same time, or a crash, meets no half of it."""
    done = subprocess.run([sys.executable, "-c", OPENED, inbox.root], capture_output=True, timeout=60, check=False)
    assert (done.stderr, [path.read_bytes() for path in inbox.waiting(3)]) == (b"tmp\n", [b"x", b"y"])


@pytest.mark.proves("S4-117")
def test_files_of_many_threads_have_names_of_their_own_and_each_thread_keeps_its_order(inbox: Inbox) -> None:
    def deliver(thread: int) -> list[str]:
        return [inbox.deliver(f"{thread} {number}".encode()).name for number in range(20)]

    with ThreadPoolExecutor(4) as threads:
        delivered = list(threads.map(deliver, range(4)))
    assert len({name for each in delivered for name in each}) == 80
    assert all(each == sorted(each) for each in delivered)
    assert len(inbox.waiting(100)) == 80


def test_many_at_once_wait_in_the_order_in_which_they_were_given(inbox: Inbox) -> None:
    given = [f"{number}".encode() for number in range(40)]
    paths = inbox.deliver_all(given)
    assert ([path.read_bytes() for path in inbox.waiting(100)], inbox.waiting(100)) == (given, paths)
    assert (names(inbox, "tmp"), {path.stat().st_mode & 0o777 for path in paths}) == ([], {0o600})
    assert inbox.deliver_all([]) == []


def test_where_one_of_many_cannot_be_delivered_none_is(inbox: Inbox) -> None:
    with pytest.raises(InboxFullError, match="is longer than"):
        inbox.deliver_all([b"x", b"x" * (LARGEST + 1)])
    inbox.deliver(b"first")
    (inbox.root / "new").chmod(0o500)
    try:
        if not os.access(inbox.root / "new", os.W_OK):  # for the system's own user it is
            with pytest.raises(PermissionError):
                inbox.deliver_all([b"x"] * 20)
    finally:
        (inbox.root / "new").chmod(0o700)
    assert (names(inbox, "tmp"), inbox.count()) == ([], 1)


def test_the_oldest_come_first_and_only_as_many_as_are_wanted(inbox: Inbox) -> None:
    paths = [inbox.deliver(b"x") for _ in range(5)]
    assert inbox.waiting(3) == paths[:3]
    inbox.mark_done(paths[0])
    assert (inbox.waiting(3), inbox.count(), names(inbox, "processed")) == (paths[1:4], 4, [paths[0].name])
    assert inbox.newest(2) == [paths[4], paths[3]]


@pytest.mark.proves("S4-86")
def test_three_strikes_and_it_is_in_quarantine(inbox: Inbox) -> None:
    name = inbox.deliver(b"bad").name
    assert [inbox.mark_failed(inbox.waiting(1)[0]) for _ in range(3)] == [False, False, True]
    assert (inbox.waiting(1), names(inbox, "quarantine")) == ([], [name])


def test_a_struck_file_keeps_its_place_and_its_name_when_it_is_done(inbox: Inbox) -> None:
    first, second = inbox.deliver(b"1"), inbox.deliver(b"2")
    inbox.mark_failed(first)
    waiting = inbox.waiting(2)
    assert [waiting[0].read_bytes(), waiting[1]] == [b"1", second]
    inbox.mark_done(waiting[0])
    assert names(inbox, "processed") == [first.name]


@pytest.mark.proves("S4-117")
def test_one_at_a_time_empties_it(inbox: Inbox) -> None:
    with inbox.drain_lock() as is_locked:
        assert is_locked is False
    inbox.deliver(b"x")
    with inbox.drain_lock() as first, Inbox(inbox.root).drain_lock() as second:
        assert (first, second) == (True, False)
    with inbox.drain_lock() as again:
        assert again


@pytest.mark.proves("S4-85")
def test_what_a_crash_left_is_delivered_or_goes_and_old_things_go(inbox: Inbox) -> None:
    inbox.deliver(b"x")
    now = inbox.waiting(1)[0].stat().st_mtime
    for name, age in (("whole", 301), ("young", 299), ("half", 3_601), ("half-young", 400)):
        path = inbox.root / "tmp" / f"{name}.json"
        path.write_bytes(b"good" if name in ("whole", "young") else b"go")
        os.utime(path, (now - age, now - age))
    for name, days in (("old", 7.1), ("kept", 6.9)):
        path = inbox.root / "processed" / f"{name}.json"
        path.write_bytes(b"x")
        os.utime(path, (now - days * 24 * HOUR,) * 2)
    for name, days in (("left", 91), ("resumed", 89)):
        path = inbox.root / "state" / f"{name}.json"
        path.write_bytes(b"{}")
        os.utime(path, (now - days * 24 * HOUR,) * 2)
    assert inbox.tidy(lambda data: data == b"good", now) == []
    assert names(inbox, "state") == ["resumed.json"]
    assert names(inbox, "tmp") == ["half-young.json", "young.json"]
    assert names(inbox, "processed") == ["kept.json"]
    assert "whole.json" in names(inbox, "new")
    warning = f"memory: 2 captures wait in {inbox.root}, the oldest for 25 hours"
    assert inbox.tidy(lambda _: False, now + 25 * HOUR) == [warning]


def test_too_much_and_too_many_are_refused(inbox: Inbox, monkeypatch) -> None:
    with pytest.raises(InboxFullError, match="is longer than 1,048,576 bytes"):
        inbox.deliver(b"x" * 1_048_577)
    monkeypatch.setattr("snell.memory.inbox.MOST_WAITING", 2)
    monkeypatch.setattr("snell.memory.inbox.COUNT_EVERY", 1)
    inbox.deliver(b"1")
    inbox.deliver(b"2")
    with pytest.raises(InboxFullError, match="captures wait already; run `snell memory drain`"):
        inbox.deliver(b"3")


def test_an_inbox_without_a_folder_is_empty(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "nothing")
    assert (inbox.waiting(5), inbox.newest(5), inbox.count(), inbox.tidy(lambda _: True)) == ([], [], 0, [])
    assert not inbox.root.exists()
