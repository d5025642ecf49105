"""Very much to remember: a process beside the daemon takes it in, all of it and once."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from snell.daemon import memory_timer
from snell.daemon.memory_timer import CatchUp, MemoryTimer, catch_up
from snell.memory import rows
from snell.memory.service import memories_of
from snell.memory.transcript_capture import bytes_unread, capture_new
from tests.unit.packs.remember_runtime import RememberRuntime


@pytest.fixture
def remembering(tmp_path: Path):
    made = RememberRuntime(tmp_path, {})
    yield made
    made.runtime.close()


def said(remembering: RememberRuntime, number: int) -> list[str]:
    texts = [f"We decided to use library_{each} for module_{each * 7919}.py." for each in range(number)]
    remembering.say(*(f"{text}\n\n{'filler words here. ' * 60}" for text in texts))
    event = remembering.event("Stop", transcript_path=str(remembering.transcript))
    capture_new(event, remembering.context, "session_end", seconds=0.0)
    return sorted(texts)


def remembered(remembering: RememberRuntime) -> list[str]:
    return sorted(
        each.content for each in memories_of(remembering.runtime).run(lambda tx: list(rows.iter_memories(tx)))
    )


def test_a_process_reads_what_is_long_while_the_timer_only_looks(remembering: RememberRuntime, monkeypatch) -> None:
    monkeypatch.setattr(memory_timer, "LONG", 10_000)
    texts = said(remembering, 300)
    assert bytes_unread(remembering.inbox.root) > 10_000
    timer = MemoryTimer(remembering.runtime, every=0.0)
    asyncio.run(timer.run_if_due())  # the first look is also the last one of a daemon, so it starts nothing
    assert (timer._catch_up, timer.is_behind) == (None, False)
    asyncio.run(timer.run_if_due())
    assert (timer._catch_up.is_running, timer.is_behind) == (True, True)
    until = time.monotonic() + 60
    while timer.is_behind and time.monotonic() < until:
        asyncio.run(timer.run_if_due())
    assert (remembered(remembering), timer.is_behind, timer.problems) == (texts, False, [])
    assert (remembering.inbox.count(), remembering.inbox.count("unread"), bytes_unread(remembering.inbox.root)) == (
        0,
        0,
        0,
    )


def test_little_is_left_to_the_daemon(remembering: RememberRuntime) -> None:
    said(remembering, 3)
    helper = CatchUp(remembering.where, dict(os.environ))
    assert (helper.start_if_needed(10, remembering.inbox.root), helper.is_running, helper.problem) == (False, False, "")


_CATCH_UP = """
import os, sys
from pathlib import Path
from snell.system.paths import Places
from snell.daemon.memory_timer import catch_up
catch_up(Places(*map(Path, sys.argv[1:])), os.getppid())
"""


def test_one_that_is_killed_loses_nothing_and_repeats_nothing(remembering: RememberRuntime) -> None:
    texts = said(remembering, 200)
    places = [str(remembering.where.config), str(remembering.where.state), str(remembering.where.run)]
    for enough in (20, 90):
        with subprocess.Popen([sys.executable, "-c", _CATCH_UP, *places]) as process:
            while process.poll() is None and remembering.inbox.count("processed") < enough:
                os.sched_yield()
            process.kill()
    catch_up(remembering.where, os.getppid())
    assert (remembered(remembering), remembering.inbox.count(), os.listdir(remembering.inbox.root / "quarantine")) == (
        texts,
        0,
        [],
    )


def test_it_ends_with_its_daemon_and_leaves_the_rest(remembering: RememberRuntime) -> None:
    said(remembering, 30)
    waiting = remembering.inbox.count()
    catch_up(remembering.where, parent=-1)
    assert (remembered(remembering), remembering.inbox.count(), remembering.inbox.count("unread")) == ([], waiting, 1)


def test_it_stops_reading_when_capturing_was_switched_off(remembering: RememberRuntime) -> None:
    said(remembering, 100)
    remembering.where.config.mkdir(exist_ok=True)
    (remembering.where.config / "snell.toml").write_text("[pack.remember]\ncapture = false\n")
    waiting = remembering.inbox.count()
    catch_up(remembering.where, os.getppid())
    assert (len(remembered(remembering)), remembering.inbox.count("unread")) == (waiting, 0)


def test_one_that_fails_is_told_of_and_the_daemon_goes_on_itself(remembering: RememberRuntime, monkeypatch) -> None:
    monkeypatch.setattr(memory_timer, "MANY", 1)
    texts = said(remembering, 2)
    monkeypatch.setattr(memory_timer.sys, "executable", "/bin/false")
    timer = MemoryTimer(remembering.runtime, every=0.0)
    timer._is_first = False
    asyncio.run(timer.run_if_due())
    assert timer.is_behind
    timer._catch_up._process.wait(10)
    for _ in range(2):  # it reads what is left, and then takes it in
        asyncio.run(timer.run_if_due())
    assert remembered(remembering) == texts
    assert timer.problems == ["memory: the catch-up process exited with code 1; the daemon does its work"]
