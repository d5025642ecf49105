"""T17, T18, T19: there is one daemon, however often it is started or replaced, and it answers every caller."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from snell.records import decisions
from snell.runtime.database_journal import StoreJournal
from snell.store.sqlite import SqliteDatabase
from tests.faults.counts import Figure, times
from tests.process.machine import Machine
from tests.waiting import wait_until
from tests.wire_client import Reply

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="daemons are counted in /proc")
pytest_plugins = ("tests.process.machine_fixtures",)

ROOT = Path(__file__).resolve().parent.parent.parent
AGENTS = 3


@times("upgrades", 3, 20)
def test_upgrades_under_load_lose_no_event_and_fail_none(machine: Machine, upgrades: int, figure: Figure) -> None:
    machine.hook()
    load = Load(machine)
    pids, began = {machine.pid}, time.monotonic()
    for number in range(upgrades):
        (machine.home / "run" / "handed-over").unlink(missing_ok=True)  # as if a minute had passed
        before = machine.pid
        served = load.served
        machine.send(build=f"99.0.{number}")
        wait_until(lambda before=before: before not in machine.daemons())
        wait_until(lambda served=served: load.served > served + AGENTS)
        pids.add(machine.pid)
    seconds = time.monotonic() - began
    codes, slowest = load.end()
    database = SqliteDatabase(machine.home / "state" / "snell.db")
    StoreJournal(database).take_in()  # as a reader of the journal does
    stored = {row.tool_use_id for row in database.run(lambda tx: decisions.rows_after(tx, 0, 10**6))}
    database.close()
    lost = codes.keys() - stored
    figure(
        test="T17",
        fault="upgrade under load",
        upgrades=upgrades,
        events=len(codes),
        per_second=round(len(codes) / seconds),
        failed=sum(code != (0, "", "") for code in codes.values()),
        lost=len(lost),
        slowest_seconds=round(slowest, 2),
    )
    assert (set(codes.values()), lost, len(pids)) == ({(0, "", "")}, set(), upgrades + 1)
    assert len(machine.daemons()) == 1


class Load:
    """Agents that start `snell-hook` for one event after the other."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._over = threading.Event()
        self._pool = ThreadPoolExecutor(AGENTS)
        self.codes: dict[str, tuple[int, str, str]] = {}
        self.slowest = 0.0
        self._agents = [self._pool.submit(self._work, number) for number in range(AGENTS)]

    @property
    def served(self) -> int:
        return len(self.codes)

    def end(self) -> tuple[dict[str, tuple[int, str, str]], float]:
        self._over.set()
        for agent in self._agents:
            agent.result(30)
        return self.codes, self.slowest

    def _work(self, agent: int) -> None:
        number = 0
        while not self._over.is_set():
            name, began = f"load-{agent}-{number}", time.monotonic()
            self.codes[name] = self._machine.hook({"tool_use_id": name})
            self.slowest = max(self.slowest, time.monotonic() - began)
            number += 1


def test_a_mismatch_that_no_restart_mends_is_no_restart_loop(machine: Machine, figure: Figure) -> None:
    machine.hook()
    first = machine.pid
    machine.send(build="99.0.0")
    wait_until(lambda: first not in machine.daemons())
    machine.hook()
    second = machine.pid
    answers = [machine.send(build="99.0.0") for _ in range(100)]
    figure(test="T17", fault="a shim that is always newer", events=101, daemons=len({first, second, machine.pid}))
    assert (answers, machine.pid) == ([Reply()] * 100, second)


def test_a_slow_hook_of_the_old_daemon_holds_no_caller_up(machine: Machine, tmp_path: Path, figure: Figure) -> None:
    gate = tmp_path / "gate"
    command = f"echo > {tmp_path}/waits; cat {gate} >&2; exit 2"
    machine.write("snell.toml", f'[[hooks]]\nevent="PreToolUse"\nmatcher="Slow"\ntimeout=60\ncommand="{command}"\n')
    subprocess.run(["mkfifo", gate], check=True)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(machine.reason, {"tool_name": "Slow", "tool_input": {}})
        wait_until((tmp_path / "waits").exists)
        old = machine.pid
        machine.send(build="99.0.0")
        wait_until(lambda: not machine.socket.exists())
        began = time.monotonic()
        assert machine.reason() == ""
        seconds = time.monotonic() - began
        assert machine.pid != old
        gate.write_text("let go", encoding="utf-8")
        assert slow.result(30) == "let go"
    wait_until(lambda: old not in machine.daemons())
    figure(test="T17", fault="a slow hook during an upgrade", next_event_seconds=round(seconds, 2))
    assert seconds < 10  # the hook would have had a minute


@times("rounds", 3, 50)
def test_of_twenty_starters_one_serves_and_the_others_leave(tmp_path: Path, rounds: int, figure: Figure) -> None:
    command = [sys.executable, "-m", "tests.faults.starters", str(tmp_path / "h"), str(rounds), "20"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=500, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    figure(test="T18", fault="starters race", rounds=rounds, starters=20, **found)
    assert (found["one_served"], found["losers_exit_codes"]) == (rounds, [0])


@times("shims", 40, 200)
def test_a_herd_with_a_cold_daemon_is_answered_by_one(machine: Machine, shims: int, figure: Figure) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(shims) as pool:
        commands = ["bad" if number % 2 else "ls" for number in range(shims)]
        reasons = list(pool.map(lambda command: machine.reason({"tool_input": {"command": command}}), commands))
    seconds, daemons = round(time.monotonic() - began, 2), len(machine.daemons())
    right = sum(
        reason == ("not that" if command == "bad" else "") for reason, command in zip(reasons, commands, strict=True)
    )
    figure(test="T19", fault="cold herd", shims=shims, right=right, daemons=daemons, seconds=seconds)
    assert (right, daemons) == (shims, 1)
