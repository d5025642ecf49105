"""Long transcripts: read in portions, by one reader at a time, and never twice."""

import asyncio
import os
import subprocess
import sys

import pytest

from snell.daemon.memory_timer import MemoryTimer
from snell.memory import rows
from snell.memory.inbox_entry import decode_entry
from snell.memory.service import memories_of
from snell.memory.transcript_capture import capture_new, capture_unread
from snell.memory.transcript_position import overlong_lines, position
from snell.memory.types import Draft
from snell.operations import call_for
from snell.system.files import file_lock
from snell.system.paths import make_private
from tests.unit.llm import tiny_bert
from tests.unit.packs.remember_stage import DECIDED, Stage


def _many(stage: Stage, number: int) -> set[str]:
    texts = [f"We decided to use library_{each} because of module_{each}.py." for each in range(number)]
    stage.say(*(f"{text}\n\n{'filler words here. ' * 100}" for text in texts))
    return set(texts)


def _all_captured(stage: Stage) -> list[str]:
    contents = [decode_entry(path.read_bytes()).content for path in stage.inbox.waiting(10_000)]
    return [content.split("\n")[0] for content in contents]


def test_a_long_transcript_is_read_in_portions_that_each_keep_their_position(stage) -> None:
    stage = stage()
    texts = _many(stage, 700)
    event = stage.event("Stop", transcript_path=str(stage.transcript))
    capture_new(event, stage.context, "session_end", seconds=0.0)
    first = _all_captured(stage)
    begin = position(stage.inbox.root / "state", "s1")
    unread = call_for("memory.stats", stage.runtime)({}, {"CWD": str(stage.folder)})["unread_bytes"]
    assert unread == stage.transcript.stat().st_size - begin.last_offset
    assert (0 < len(first) < 50, 0 < begin.last_offset < stage.transcript.stat().st_size) == (True, True)
    rounds = 0
    while capture_unread(stage.where.state, 0.05):  # as the daemon's timer does
        rounds += 1
    assert rounds > 1
    assert (sorted(_all_captured(stage)), list((stage.inbox.root / "unread").iterdir())) == (sorted(texts), [])


_READER = """
import sys
from pathlib import Path
from snell.model.context import Context
from snell.model.events import event_from
from snell.memory.transcript_capture import capture_new

state, transcript, cwd = sys.argv[1:]
event = event_from({"session_id": "s1", "cwd": cwd, "transcript_path": transcript}, "Stop", "claude-code")
capture_new(event, Context(state=Path(state)), "session_end", 60)
"""


def test_a_reader_that_is_killed_repeats_nothing_and_loses_nothing(stage) -> None:
    stage = stage()
    texts = _many(stage, 300)
    command = [sys.executable, "-c", _READER, str(stage.where.state), str(stage.transcript), str(stage.folder)]
    for enough in (10, 60, 130):
        with subprocess.Popen(command) as reader:
            while reader.poll() is None and stage.inbox.count() < enough:
                os.sched_yield()
            reader.kill()
    while capture_unread(stage.where.state, 1.0):
        pass
    assert sorted(_all_captured(stage)) == sorted(texts)


def test_a_line_that_is_too_long_is_left_out_and_counted(stage) -> None:
    stage = stage()
    stage.say(DECIDED, "x" * 1_100_000, "y" * 2_200_000, "The root cause was a stale lock in `cache.py`.")
    capture_new(stage.event("Stop", transcript_path=str(stage.transcript)), stage.context, "session_end", seconds=60)
    assert len(stage.captures()) == 2
    assert overlong_lines(stage.inbox.root / "state") == 2
    assert call_for("memory.stats", stage.runtime)({}, {"CWD": str(stage.folder)})["overlong_lines"] == 2


def test_one_long_transcript_does_not_hold_up_another_session(stage) -> None:
    stage = stage()
    state = stage.inbox.root / "state"
    make_private(stage.inbox.root)
    make_private(state)
    stage.say(DECIDED)
    with file_lock(state / "other.lock"):
        stage.fire("Stop", transcript_path=str(stage.transcript))
        assert [each.content for each in stage.captures()] == [DECIDED]


def test_what_another_reader_holds_is_read_later(stage) -> None:
    stage = stage()
    state = stage.inbox.root / "state"
    make_private(stage.inbox.root)
    make_private(state)
    stage.say(DECIDED)
    with file_lock(state / "s1.lock"):
        stage.fire("Stop", transcript_path=str(stage.transcript))
        assert stage.captures() == []
    assert capture_unread(stage.where.state, 5.0) is False
    assert [each.content for each in stage.captures()] == [DECIDED]


def test_the_rest_is_dropped_when_capturing_was_switched_off(stage) -> None:
    stage = stage()
    _many(stage, 100)
    event = stage.event("Stop", transcript_path=str(stage.transcript))
    capture_new(event, stage.context, "session_end", seconds=0.0)
    stage.where.config.mkdir(exist_ok=True)
    (stage.where.config / "snell.toml").write_text("[pack.remember]\nenabled = false\n")
    before = position(stage.inbox.root / "state", "s1")
    memories_of(stage.runtime).maintain()
    assert list((stage.inbox.root / "unread").iterdir()) == []
    assert (
        position(stage.inbox.root / "state", "s1").last_offset == stage.transcript.stat().st_size > before.last_offset
    )


def test_the_timer_goes_on_reading_but_not_when_the_daemon_takes_its_leave(stage) -> None:
    stage = stage()
    texts = _many(stage, 100)
    capture_new(stage.event("Stop", transcript_path=str(stage.transcript)), stage.context, "session_end", seconds=0.0)
    before = position(stage.inbox.root / "state", "s1")
    asyncio.run(MemoryTimer(stage.runtime).run_if_due())  # as the daemon's last act
    assert position(stage.inbox.root / "state", "s1") == before
    timer = MemoryTimer(stage.runtime)
    while stage.inbox.count("unread"):
        asyncio.run(timer.run_if_due())
    memories_of(stage.runtime).drain(10_000, 60)
    known = memories_of(stage.runtime).run(lambda tx: rows.stats(tx))
    assert known.memories == len(texts)


def test_the_timer_lets_a_model_catch_up_where_nothing_was_ever_captured(stage, monkeypatch) -> None:
    pytest.importorskip("numpy")
    monkeypatch.setattr("snell.llm.embeddings.minilm._MODELS", {})
    stage = stage()
    tiny_bert.write(stage.where.state / "models" / "all-MiniLM-L6-v2")
    timer = MemoryTimer(stage.runtime, every=0.0)
    asyncio.run(timer.run_if_due())
    memories = memories_of(stage.runtime)
    assert memories.remember(Draft(content=DECIDED, project="p")).is_stored
    assert (stage.inbox.root.exists(), memories.run(rows.stats).with_dense) == (False, 0)
    asyncio.run(timer.run_if_due())
    assert memories.run(rows.stats).with_dense == 1
