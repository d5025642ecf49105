"""How often the daemon does its housekeeping."""

import asyncio
from pathlib import Path

import pytest

from snell.daemon import housekeeping
from snell.daemon.housekeeping import LARGE_LOG, RoundTimer


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, seconds in (("SOON", 0.0), ("BETWEEN", 3600.0), ("ASLEEP", 0.0), ("AT_LEAST", 7200.0)):
        monkeypatch.setattr(housekeeping, name, seconds)
    path = tmp_path / "log"
    path.touch()
    return path


def rounds(pace: RoundTimer, number: int, *, has_more: bool = False, has_work: bool = True) -> list[bool]:
    """Run rounds, with work before each if it `has_work`; return which were full."""

    async def run() -> list[bool]:
        full = []
        for _ in range(number):
            if has_work:
                pace.note_work()
            full.append(await pace.next_round())
            pace.end_round(has_more=has_more)
        return full

    return asyncio.run(run())


def test_while_work_goes_on_few_rounds_are_full(log: Path) -> None:
    assert rounds(RoundTimer(36_000, str(log)), 4) == [True, False, False, False]


def test_a_round_that_has_more_to_do_is_followed_by_a_full_one(log: Path) -> None:
    assert rounds(RoundTimer(36_000, str(log)), 3, has_more=True) == [True, True, True]


def test_a_large_log_needs_a_full_round(log: Path) -> None:
    pace = RoundTimer(36_000, str(log))
    assert rounds(pace, 2) == [True, False]
    with log.open("wb") as file:
        file.truncate(LARGE_LOG)
    assert rounds(pace, 1) == [True]


def test_the_last_work_is_followed_by_one_full_round(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "BETWEEN", 0.05)
    monkeypatch.setattr(housekeeping, "ASLEEP", 0.1)
    pace = RoundTimer(36_000, str(log))
    assert rounds(pace, 2) == [True, False]  # the second piece of work came too soon for a full round
    assert rounds(pace, 3, has_work=False) == [True, False, False]


def test_work_of_another_process_needs_a_full_round(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "BETWEEN", 0.0)
    pace = RoundTimer(36_000, str(log))
    assert rounds(pace, 1) == [True]
    log.write_bytes(b"a row")
    assert rounds(pace, 2, has_work=False) == [True, False]
