"""
Capture from a transcript of any length: in portions, each under a lock, with the position stored after each.

What does not fit into the time of one event is noted and read with the next one, or by the daemon later.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.memory.capture import (
    COMPARED,
    PIECE,
    CaptureResult,
    Source,
    hashes_in,
    inbox_of,
    pieces,
    prepare_entry,
    source_of,
)
from snell.memory.inbox import Inbox
from snell.memory.transcript_position import agent_message, is_session, is_transcript, keep_position, position
from snell.model.context import Context
from snell.model.events import Event, event_from
from snell.system.files import FileError, file_lock, names_in, struct_or_none, write_atomically
from snell.system.paths import make_private
from snell.system.transcripts import lines_since

READ_AT_ONCE = 10_000  # characters of one reading, where long messages are cut
RECENT = 50  # ids of messages, to recognise one that is written again
PORTION = 256 * 1024  # bytes, at most, between two positions
SECONDS = 1.0  # for one event
LOCK_SECONDS = 1.0  # the process that holds the lock also reads what is new
MOST_UNREAD = 1_000  # unread transcripts per call

Prepared = tuple[CaptureResult, bytes]


class Unread(Struct, frozen=True, kw_only=True):
    """A transcript with an unread part: what is needed to continue without its event."""

    session_id: str
    transcript_path: str
    client: str
    event: str
    trigger: str
    cwd: str = ""
    project_dir: str = ""


def capture_new(event: Event, context: Context, trigger: str, seconds: float = SECONDS) -> list[CaptureResult]:
    """Capture all that is new in the transcript, within the time; the rest is noted as unread."""
    inbox = inbox_of(context)
    assert inbox
    until = time.monotonic() + seconds
    make_private(inbox.root)
    make_private(inbox.root / "state")
    known, source = hashes_in(inbox), source_of_transcript(event, context, trigger)
    cuts = context.options.get("long_messages") == "cut"

    def take(text: str) -> Iterator[Prepared]:
        return (prepare_entry(piece, source, known) for piece in pieces(text, cuts=cuts))

    if cuts:
        return _one_reading(event, inbox, take, until)
    done: list[CaptureResult] = []
    if _length_unread(inbox.root, event.session_id, event.transcript_path) > PORTION:
        _note(inbox.root, event, context, trigger)  # first, so that it survives a crash as well
    try:
        while more := _portion(event, inbox, take, until):
            done += more[0]
            if more[1]:
                _forget(inbox.root, event.session_id)
                break
            if time.monotonic() >= until:
                _note(inbox.root, event, context, trigger)
                break
    except FileError:  # another process reads it
        _note(inbox.root, event, context, trigger)
    return done


def capture_unread(root: Path, seconds: float, is_wanted: Callable[[str], bool] = lambda _folder: True) -> bool:
    """
    Continue with what events had no time for; returns whether there is still more. `is_wanted` tells whether texts of
    a folder may still be captured.
    """
    until = time.monotonic() + seconds
    for unread in _unread(root):
        left = until - time.monotonic()
        if left <= 0:
            return True
        if not is_session(unread.session_id) or not is_transcript(unread.transcript_path):
            _forget(root, unread.session_id)
            continue
        if not is_wanted(unread.project_dir or unread.cwd):
            skip_to_end(root, unread.session_id, unread.transcript_path)
            continue
        given = {name: getattr(unread, name) for name in ("session_id", "transcript_path", "cwd")}
        event = event_from(given, unread.event, unread.client)
        context = Context(state=root.parent, project_dir=unread.project_dir, options={"inbox": root})
        capture_new(event, context, unread.trigger, left)
    return any(True for _ in _unread(root))


def bytes_unread(root: Path) -> int:
    """Return how many bytes are left of the transcripts that were too long for one event."""
    return sum(_length_unread(root, unread.session_id, unread.transcript_path) for unread in _unread(root))


def skip_to_end(root: Path, session: str, transcript: str) -> None:
    """Discard what is in the transcript so far: the next read begins at its end."""
    state = root / "state"
    with contextlib.suppress(OSError, FileError), file_lock(state / f"{session}.lock", LOCK_SECONDS):
        known = position(state, session)
        keep_position(state, session, os.stat(transcript).st_size, time.time(), known.recent, known.overlong)
    _forget(root, session)


def source_of_transcript(event: Event, context: Context, trigger: str) -> Source:
    origin = {"session_id": event.session_id, "hook_event": event.name, "trigger": trigger}
    return source_of(event, context, tag="transcript", origin=origin)


def _one_reading(
    event: Event, inbox: Inbox, take: Callable[[str], Iterable[Prepared]], until: float
) -> list[CaptureResult]:
    """Capture as much as one reading takes; the next event continues, also if another process reads it now."""
    with contextlib.suppress(FileError):
        return _portion(event, inbox, take, until, READ_AT_ONCE)[0]
    return []


def _portion(
    event: Event, inbox: Inbox, take: Callable[[str], Iterable[Prepared]], until: float, most: int = 0
) -> tuple[list[CaptureResult], bool]:
    """
    Capture a part of the transcript, at most `most` characters; returns the results, and whether that was its end.

    INVARIANT: the position is stored only after the captures are in the inbox, and at most as many captures come
    between two positions as a repeated read can recognise as duplicates. So a crash loses nothing and stores nothing
    twice.
    """
    state, found, queued, is_end = inbox.root / "state", list[Prepared](), 0, True
    with file_lock(state / f"{event.session_id}.lock", LOCK_SECONDS):
        begin = position(state, event.session_id)
        offset, recent, overlong = begin.last_offset, list(begin.recent), begin.overlong
        for line, after in lines_since(event.transcript_path, begin.last_offset):
            overlong += not line
            message = agent_message(line, event.client)
            if message and (not message.id or message.id not in recent):
                new = list(take(message.text))
                found += new
                queued += sum(result.queued for result, _ in new)
                recent = [*recent, message.id][-RECENT:]
            offset, read = after, after - begin.last_offset
            is_full = most and sum(result.length for result, _ in found) > most - PIECE
            if read >= PORTION or queued >= COMPARED // 2 or time.monotonic() >= until or is_full:
                is_end = False
                break
        paths = iter(inbox.deliver_all([data for _, data in found if data]))
        if offset != begin.last_offset or tuple(recent) != begin.recent:
            keep_position(state, event.session_id, offset, time.time(), tuple(recent), overlong)
    return [replace(result, path=str(next(paths))) if data else result for result, data in found], is_end


def _length_unread(root: Path, session: str, transcript: str) -> int:
    with contextlib.suppress(OSError):
        return os.stat(transcript).st_size - position(root / "state", session).last_offset
    return 0


def _note(root: Path, event: Event, context: Context, trigger: str) -> None:
    shared = {name: getattr(event, name) for name in ("session_id", "transcript_path", "client", "cwd")}
    unread = Unread(event=event.name, trigger=trigger, project_dir=context.project_dir, **shared)
    make_private(root / "unread")
    write_atomically(root / "unread" / f"{event.session_id}.json", msgspec.json.encode(unread))


def _forget(root: Path, session: str) -> None:
    with contextlib.suppress(OSError):
        (root / "unread" / f"{session}.json").unlink()


def _unread(root: Path) -> Iterator[Unread]:
    for name in sorted(names_in(root / "unread"))[:MOST_UNREAD]:
        if not name.endswith(".json") or name.startswith("."):
            continue
        unread = struct_or_none(root / "unread" / name, Unread, 100_000)
        if unread and f"{unread.session_id}.json" == name:
            yield unread
