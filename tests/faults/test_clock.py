"""T10: the clock is set back and forth, and no call waits longer, is lost or gets out of order for it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from snell.records import decisions
from snell.store.sqlite import SqliteDatabase
from snell.system.wall_clock import WallClock
from tests.faults.counts import Figure
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

DAY, YEARS = 86_400, 10 * 365 * 86_400
JUMPS = (DAY, -DAY, YEARS, -YEARS, 0)
HANGS = '[[hooks]]\nevent="PreToolUse"\nmatcher="Slow"\ntimeout=1\non_failure="block"\ncommand="sleep 60"\n'


@pytest.fixture
def clock(machine: Machine, tmp_path: Path) -> Iterator[Path]:
    offset = tmp_path / "offset"
    set_clock(offset, 0)
    command = [sys.executable, "-m", "tests.faults.odd_clock", str(offset)]
    with subprocess.Popen(command, cwd=Path(__file__).resolve().parents[2], env=machine.env()) as daemon:
        wait_until(machine.socket.exists)
        yield offset
        daemon.terminate()


def set_clock(offset: Path, seconds: int) -> None:
    offset.with_suffix(".new").write_text(str(seconds), encoding="ascii")
    offset.with_suffix(".new").rename(offset)


def test_a_clock_that_jumps_changes_no_limit_no_order_and_loses_nothing(
    machine: Machine, clock: Path, figure: Figure
) -> None:
    machine.write("snell.toml", HANGS)
    sent, waits = [], []
    for number, jump in enumerate(JUMPS):
        machine.send({"tool_use_id": f"before-{number}"})
        set_clock(clock, jump)
        machine.send({"tool_use_id": f"between-{number}"})
        if number == 0:
            let_it_look()
        sent += [f"before-{number}", f"between-{number}"]
    for number, jump in enumerate((YEARS, -YEARS)):  # and while a hook is running
        with ThreadPoolExecutor(1) as pool:
            began = time.monotonic()
            slow = pool.submit(machine.send, {"tool_name": "Slow", "tool_input": {}, "tool_use_id": f"slow-{number}"})
            set_clock(clock, jump)
            reply = slow.result(30)
            waits.append(time.monotonic() - began)
        assert reply is not None
        assert b"within 1 s" in reply.stdout
        sent.append(f"slow-{number}")
    set_clock(clock, YEARS)
    machine.send({"tool_use_id": "last"})
    let_it_look()
    database = SqliteDatabase(machine.home / "state" / "snell.db")
    rows = database.run(lambda tx: decisions.rows_after(tx, 0, 1000))
    traces = database.run(lambda tx: tx.rows("SELECT count(*) FROM traces"))[0][0]
    database.close()
    figure(
        test="T10",
        fault="clock jumps",
        jumps=len(JUMPS) + 2,
        longest_wait_for_1_s=round(max(waits), 2),
        shortest_wait=round(min(waits), 2),
        rows=len(rows),
        traces=traces,
    )
    assert [row.tool_use_id for row in rows] == [*sent, "last"]
    assert traces == len(rows)
    assert all(row.ms >= 0 for row in rows)
    assert (min(waits) >= 1.0, max(waits) < 6.0) == (True, True)


def let_it_look() -> None:
    """A second in which the daemon looks twenty times whether anything is too old."""
    until = time.monotonic() + 1.0
    wait_until(lambda: time.monotonic() > until)


def test_a_newer_version_is_not_kept_out_by_a_stamp_from_the_future(machine: Machine) -> None:
    machine.hook()
    first, stamp = machine.pid, machine.home / "run" / "handed-over"
    stamp.touch()
    later = time.time() + YEARS
    os.utime(stamp, (later, later))
    machine.send(build="99.0.0")
    wait_until(lambda: first not in machine.daemons())


def test_the_age_of_things_is_unknown_once_the_clock_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = WallClock()
    assert clock.now() is not None
    usual = time.time
    monkeypatch.setattr(time, "time", lambda: usual() + YEARS)
    assert clock.now() is None
    monkeypatch.setattr(time, "time", usual)
    assert clock.now() is None
