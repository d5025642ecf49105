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
from tests.unit.packs.remember_runtime import DECIDED, RememberRuntime


def _many(remembering: RememberRuntime, number: int) -> set[str]:
    texts = [f"We decided to use library_{each} because of module_{each}.py." for each in range(number)]
    remembering.say(*(f"{text}\n\n{'filler words here. ' * 100}" for text in texts))
    return set(texts)


def _all_captured(remembering: RememberRuntime) -> list[str]:
    contents = [decode_entry(path.read_bytes()).content for path in remembering.inbox.waiting(10_000)]
    return [content.split("\n")[0] for content in contents]


def test_a_long_transcript_is_read_in_portions_that_each_keep_their_position(remembering) -> None:
    remembering = remembering()
    texts = _many(remembering, 700)
    event = remembering.event("Stop", transcript_path=str(remembering.transcript))
    capture_new(event, remembering.context, "session_end", seconds=0.0)
    first = _all_captured(remembering)
    begin = position(remembering.inbox.root / "state", "s1")
    unread = call_for("memory.stats", remembering.runtime)({}, {"CWD": str(remembering.folder)})["unread_bytes"]
    assert unread == remembering.transcript.stat().st_size - begin.last_offset
    assert (0 < len(first) < 50, 0 < begin.last_offset < remembering.transcript.stat().st_size) == (True, True)
    rounds = 0
    while capture_unread(remembering.inbox.root, 0.05):  # as the daemon's timer does
        rounds += 1
    assert rounds > 1
    assert (sorted(_all_captured(remembering)), list((remembering.inbox.root / "unread").iterdir())) == (
        sorted(texts),
        [],
    )


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


def test_a_reader_that_is_killed_repeats_nothing_and_loses_nothing(remembering) -> None:
    remembering = remembering()
    texts = _many(remembering, 300)
    command = [
        sys.executable,
        "-c",
        _READER,
        str(remembering.where.state),
        str(remembering.transcript),
        str(remembering.folder),
    ]
    for enough in (10, 60, 130):
        with subprocess.Popen(command) as reader:
            while reader.poll() is None and remembering.inbox.count() < enough:
                os.sched_yield()
            reader.kill()
    while capture_unread(remembering.inbox.root, 1.0):
        pass
    assert sorted(_all_captured(remembering)) == sorted(texts)


def test_a_line_that_is_too_long_is_left_out_and_counted(remembering) -> None:
    remembering = remembering()
    remembering.say(DECIDED, "x" * 1_100_000, "y" * 2_200_000, "The root cause was a stale lock in `cache.py`.")
    capture_new(
        remembering.event("Stop", transcript_path=str(remembering.transcript)),
        remembering.context,
        "session_end",
        seconds=60,
    )
    assert len(remembering.captures()) == 2
    assert overlong_lines(remembering.inbox.root / "state") == 2
    assert call_for("memory.stats", remembering.runtime)({}, {"CWD": str(remembering.folder)})["overlong_lines"] == 2


def test_one_long_transcript_does_not_hold_up_another_session(remembering) -> None:
    remembering = remembering()
    state = remembering.inbox.root / "state"
    make_private(remembering.inbox.root)
    make_private(state)
    remembering.say(DECIDED)
    with file_lock(state / "other.lock"):
        remembering.fire("Stop", transcript_path=str(remembering.transcript))
        assert [each.content for each in remembering.captures()] == [DECIDED]


def test_what_another_reader_holds_is_read_later(remembering) -> None:
    remembering = remembering()
    state = remembering.inbox.root / "state"
    make_private(remembering.inbox.root)
    make_private(state)
    remembering.say(DECIDED)
    with file_lock(state / "s1.lock"):
        remembering.fire("Stop", transcript_path=str(remembering.transcript))
        assert remembering.captures() == []
    assert capture_unread(remembering.inbox.root, 5.0) is False
    assert [each.content for each in remembering.captures()] == [DECIDED]


def test_the_rest_is_dropped_when_capturing_was_switched_off(remembering) -> None:
    remembering = remembering()
    _many(remembering, 100)
    event = remembering.event("Stop", transcript_path=str(remembering.transcript))
    capture_new(event, remembering.context, "session_end", seconds=0.0)
    remembering.where.config.mkdir(exist_ok=True)
    (remembering.where.config / "snell.toml").write_text("[pack.remember]\nenabled = false\n")
    before = position(remembering.inbox.root / "state", "s1")
    memories_of(remembering.runtime).maintain()
    assert list((remembering.inbox.root / "unread").iterdir()) == []
    assert (
        position(remembering.inbox.root / "state", "s1").last_offset
        == remembering.transcript.stat().st_size
        > before.last_offset
    )


def test_the_timer_goes_on_reading_but_not_when_the_daemon_takes_its_leave(remembering) -> None:
    remembering = remembering()
    texts = _many(remembering, 100)
    capture_new(
        remembering.event("Stop", transcript_path=str(remembering.transcript)),
        remembering.context,
        "session_end",
        seconds=0.0,
    )
    before = position(remembering.inbox.root / "state", "s1")
    asyncio.run(MemoryTimer(remembering.runtime).run_if_due())  # as the daemon's last act
    assert position(remembering.inbox.root / "state", "s1") == before
    timer = MemoryTimer(remembering.runtime)
    while remembering.inbox.count("unread"):
        asyncio.run(timer.run_if_due())
    memories_of(remembering.runtime).drain(10_000, 60)
    known = memories_of(remembering.runtime).run(lambda tx: rows.stats(tx))
    assert known.memories == len(texts)


def test_the_timer_lets_a_model_catch_up_where_nothing_was_ever_captured(remembering, monkeypatch) -> None:
    pytest.importorskip("numpy")
    monkeypatch.setattr("snell.llm.embeddings.minilm._MODELS", {})
    remembering = remembering()
    tiny_bert.write(remembering.where.state / "models" / "all-MiniLM-L6-v2")
    timer = MemoryTimer(remembering.runtime, every=0.0)
    asyncio.run(timer.run_if_due())
    memories = memories_of(remembering.runtime)
    assert memories.remember(Draft(content=DECIDED, project="p")).is_stored
    assert (remembering.inbox.root.exists(), memories.run(rows.stats).with_dense) == (False, 0)
    asyncio.run(timer.run_if_due())
    assert memories.run(rows.stats).with_dense == 1
