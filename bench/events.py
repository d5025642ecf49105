"""
What one event costs: the client's time over spawning `/bin/true`, and the CPU time of the daemon for all its work.

Each event is a new call, of a new command line or of the same one again. Events come one every 30 ms (paced) or one
after the other. `/bin/true` is spawned in turn with them, in random order. A figure is the median of several runs; the
10th percentile of the runs is printed beside it.
"""

import functools
import itertools
import json
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import msgspec

from bench.commands import new_commands
from bench.measure import Measured, process_cpu
from bench.scene import OURS, Scene, scene
from bench.shim import spawned

RUNS, EVENTS = 5, 100
GAP = 0.03  # seconds between two paced events
MOST_WAITING = 100  # rows that may still wait when the last event of a back to back run was answered
REPEATED = "pytest -q tests/unit -k 'reader and not slow' 2>&1 | tail -n 20"
VARIABLES = 36  # what a shell of a developer has
MANY_VARIABLES, FOLDERS = 90, 50


class Run(msgspec.Struct, frozen=True):
    """Ratios to `/bin/true` of one run, and the CPU milliseconds of the daemon for one event."""

    wall: float
    cpu: float
    tail: float  # p99/p50 of ours, over p99/p50 of `/bin/true`
    cpu_ms: float
    true_ms: float
    waiting: int  # rows that were not in the ledger yet at the end


def new_command_over_true() -> Measured:
    return _figure("wall", is_new=True)


def repeated_command_over_true() -> Measured:
    return _figure("wall", is_new=False)


def new_back_to_back_over_true() -> Measured:
    return _figure("wall", is_new=True, gap=0.0)


def repeated_back_to_back_over_true() -> Measured:
    return _figure("wall", is_new=False, gap=0.0)


def cpu_of_new_command() -> Measured:
    return _figure("cpu", is_new=True)


def cpu_of_repeated_command() -> Measured:
    return _figure("cpu", is_new=False)


def cpu_of_new_back_to_back() -> Measured:
    return _figure("cpu", is_new=True, gap=0.0)


def cpu_of_repeated_back_to_back() -> Measured:
    return _figure("cpu", is_new=False, gap=0.0)


def tail_over_tail_of_true() -> Measured:
    return _figure("tail", is_new=False)


def cpu_with_90_variables() -> Measured:
    """CPU time for one event with 90 variables, over the same with 36."""
    return _over_usual("90 variables", variables=MANY_VARIABLES)


def cpu_with_many_folders() -> Measured:
    """CPU time for one event when each comes from another of 50 folders, over the same from one folder."""
    return _over_usual("50 folders", folders=FOLDERS)


def cpu_without_re2() -> Measured:
    """CPU time for one event with a new command where google-re2 is not installed, over the same with it."""
    return _over_usual("without re2", is_new=True, has_re2=False)


def _figure(field: str, *, is_new: bool, gap: float = GAP) -> Measured:
    found = runs(is_new, gap)
    values = sorted(getattr(run, field) for run in found)
    seen = {
        "10th percentile of the runs": values[0],
        "daemon, CPU ms an event": statistics.median(run.cpu_ms for run in found),
        "/bin/true, ms": statistics.median(run.true_ms for run in found),
        "rows waiting at the end": float(max(run.waiting for run in found)),
    }
    is_behind = gap == 0.0 and seen["rows waiting at the end"] > MOST_WAITING
    return float("inf") if is_behind else statistics.median(values), seen


def _over_usual(name: str, *, is_new: bool = False, **given: int) -> Measured:
    usual, other = (statistics.median(run.cpu_ms for run in runs(is_new, GAP, **options)) for options in ({}, given))
    return other / usual, {f"{name}, CPU ms an event": other, "usual, CPU ms an event": usual}


@functools.cache
def runs(is_new: bool, gap: float, variables: int = VARIABLES, folders: int = 1, has_re2: int = True) -> list[Run]:
    with scene(kind=None, has_re2=bool(has_re2)) as here:
        env = {**here.env, **{f"VARIABLE_{number}": "x" * 40 for number in range(variables - len(here.env))}}
        payloads = event_payloads(here.folder, is_new=is_new, folders=folders)
        _run(here, env, payloads, gap)  # the first events of a daemon import, compile and open
        return [_run(here, env, payloads, gap) for _ in range(RUNS)]


def event_payloads(folder: Path, *, is_new: bool, folders: int = 1) -> Iterator[bytes]:
    """Yield calls of the shell, each with an id of its own."""
    commands = new_commands() if is_new else itertools.repeat(REPEATED)
    places = [folder / f"project-{number}" for number in range(folders)]
    for place in places:
        place.mkdir(exist_ok=True)
    for number, command in enumerate(commands):
        yield json.dumps(
            {
                "session_id": "3f1c2d6e-8a4b-4a57-9f3e-0d7d6b0a9c11",
                "hook_event_name": "PreToolUse",
                "cwd": str(places[number % folders]),
                "permission_mode": "default",
                "tool_name": "Bash",
                "tool_input": {"command": command, "description": "Look at the result"},
                "tool_use_id": f"toolu_{number:024}",
            }
        ).encode()


def _run(here: Scene, env: dict[str, str], payloads: Iterator[bytes], gap: float) -> Run:
    ours, theirs, true_cpu = [], [], []
    daemon, calls = here.daemon, _calls(here)
    before = process_cpu(daemon)
    for payload in itertools.islice(payloads, EVENTS):
        for is_ours in random.sample((True, False), 2):
            time.sleep(gap)
            wall, cpu = spawned(OURS if is_ours else ["/bin/true"], env, payload)
            (ours if is_ours else theirs).append(wall)
            if not is_ours:
                true_cpu.append(cpu)
    waiting = EVENTS - (_calls(here) - calls)
    here.wait_until_quiet()
    cpu_ms = (process_cpu(daemon) - before) * 1000 / EVENTS
    true_ms = statistics.median(true_cpu) * 1000
    wall = statistics.median(ours) / statistics.median(theirs)
    return Run(wall, cpu_ms / true_ms, _tail(ours) / _tail(theirs), cpu_ms, true_ms, waiting)


def _tail(walls: list[float]) -> float:
    ordered = sorted(walls)
    return ordered[int(len(ordered) * 0.99) - 1] / statistics.median(ordered)


def _calls(here: Scene) -> int:
    """Return how many rows the ledger has."""
    connection = apsw.Connection(str(here.folder / "state" / "snell.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(connection.execute("SELECT count(*) FROM tool_calls").fetchall()[0][0])
    finally:
        connection.close()
