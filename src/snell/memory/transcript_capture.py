"""
Reading a transcript, however long: in portions, each with a lock of its own, and the position kept after each.

What does not fit into the time of one event is noted down and read with the next one, or when the daemon has time.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.memory.capture import COMPARED, Captured, Source, hashes_in, inbox_of, pieces, prepare_entry, source_of
from snell.memory.inbox import Inbox
from snell.memory.transcript_formats import said_in
from snell.memory.transcript_position import is_session, is_transcript, keep_position, lines_since, position
from snell.model.context import Context
from snell.model.events import Event, event_from
from snell.system.files import FileError, file_lock, read_capped, write_atomically
from snell.system.paths import make_private

RECENT = 50  # ids of messages by which one that is written again is recognised
PORTION = 256 * 1024  # bytes, at most, between two positions
SECONDS = 1.0  # for one event
LOCK_SECONDS = 1.0  # who reads this transcript now also reads what is new
MOST_UNREAD = 1_000  # transcripts that are looked for at once

Prepared = tuple[Captured, bytes]


class Unread(Struct, frozen=True, kw_only=True):
    """A transcript of which there is more: what is needed to go on without its event."""

    session_id: str
    transcript_path: str
    client: str
    event: str
    trigger: str
    cwd: str = ""
    project_dir: str = ""


def read_on(event: Event, here: Context, trigger: str, seconds: float = SECONDS) -> list[Captured]:
    """All that is new in the transcript, as far as the time goes; the rest is noted down."""
    inbox = inbox_of(here)
    assert inbox
    until = time.monotonic() + seconds
    for folder in (inbox.root, inbox.root / "state"):
        make_private(folder)
    known, source = hashes_in(inbox), source_of_transcript(event, here, trigger)

    def take(text: str) -> Iterator[Prepared]:
        return (prepare_entry(piece, source, known) for piece in pieces(text))

    done: list[Captured] = []
    if _length_unread(inbox.root, event.session_id, event.transcript_path) > PORTION:
        _note(inbox.root, event, here, trigger)  # first, so that a crash is survived as well
    try:
        while more := _portion(event, inbox, take, until):
            done += more[0]
            if more[1]:
                _forget(inbox.root, event.session_id)
                break
            if time.monotonic() >= until:
                _note(inbox.root, event, here, trigger)
                break
    except FileError:  # somebody else reads it
        _note(inbox.root, event, here, trigger)
    return done


def read_the_rest(state: Path, seconds: float, is_wanted: Callable[[str], bool] = lambda _folder: True) -> bool:
    """
    Go on with what events had no time for; returns whether there is still more. `is_wanted` says of a folder whether
    what was said there may still be captured.
    """
    until = time.monotonic() + seconds
    root = state / "memory"
    for unread in _unread(root):
        left = until - time.monotonic()
        if left <= 0:
            return True
        if not is_session(unread.session_id) or not is_transcript(unread.transcript_path):
            _forget(root, unread.session_id)
            continue
        if not is_wanted(unread.project_dir or unread.cwd):
            pass_over(root, unread.session_id, unread.transcript_path)
            continue
        given = {name: getattr(unread, name) for name in ("session_id", "transcript_path", "cwd")}
        event = event_from(given, unread.event, unread.client)
        read_on(event, Context(state=state, project_dir=unread.project_dir), unread.trigger, left)
    return any(True for _ in _unread(root))


def bytes_unread(state: Path) -> int:
    """How much is left of the transcripts that were too long for one event."""
    root = state / "memory"
    return sum(_length_unread(root, unread.session_id, unread.transcript_path) for unread in _unread(root))


def pass_over(root: Path, session: str, transcript: str) -> None:
    """What was said so far is not wanted, neither now nor later: the next look begins at the end."""
    state = root / "state"
    with contextlib.suppress(OSError, FileError), file_lock(state / f"{session}.lock", LOCK_SECONDS):
        known = position(state, session)
        keep_position(state, session, os.stat(transcript).st_size, time.time(), known.recent, known.overlong)
    _forget(root, session)


def source_of_transcript(event: Event, here: Context, trigger: str) -> Source:
    context = {"session_id": event.session_id, "hook_event": event.name, "trigger": trigger}
    return source_of(event, here, tag="transcript", context=context)


def _portion(
    event: Event, inbox: Inbox, take: Callable[[str], Iterable[Prepared]], until: float
) -> tuple[list[Captured], bool]:
    """
    A part of the transcript, and whether that was its end.

    INVARIANT: the position moves on after what was read is in the inbox, and no more goes there before it moves than
    a second look compares with; so a crash in between repeats nothing and loses nothing.
    """
    state, found, queued, is_end = inbox.root / "state", list[Prepared](), 0, True
    with file_lock(state / f"{event.session_id}.lock", LOCK_SECONDS):
        begin = position(state, event.session_id)
        offset, recent, overlong = begin.last_offset, list(begin.recent), begin.overlong
        for line, after in lines_since(event.transcript_path, begin.last_offset):
            overlong += not line
            said = said_in(line, event.client)
            if said and (not said.id or said.id not in recent):
                new = list(take(said.text))
                found += new
                queued += sum(told.queued for told, _ in new)
                recent = [*recent, said.id][-RECENT:]
            offset, read = after, after - begin.last_offset
            if read >= PORTION or queued >= COMPARED // 2 or time.monotonic() >= until:
                is_end = False
                break
        inbox.deliver_all([data for _, data in found if data])
        if offset != begin.last_offset or tuple(recent) != begin.recent:
            keep_position(state, event.session_id, offset, time.time(), tuple(recent), overlong)
    return [told for told, _ in found], is_end


def _length_unread(root: Path, session: str, transcript: str) -> int:
    with contextlib.suppress(OSError):
        return os.stat(transcript).st_size - position(root / "state", session).last_offset
    return 0


def _note(root: Path, event: Event, here: Context, trigger: str) -> None:
    unread = Unread(
        session_id=event.session_id,
        transcript_path=event.transcript_path,
        client=event.client,
        event=event.name,
        trigger=trigger,
        cwd=event.cwd,
        project_dir=here.project_dir,
    )
    make_private(root / "unread")
    write_atomically(root / "unread" / f"{event.session_id}.json", msgspec.json.encode(unread))


def _forget(root: Path, session: str) -> None:
    with contextlib.suppress(OSError):
        (root / "unread" / f"{session}.json").unlink()


def _unread(root: Path) -> Iterator[Unread]:
    try:
        names = sorted(os.listdir(root / "unread"))[:MOST_UNREAD]
    except OSError:
        return
    for name in names:
        if not name.endswith(".json") or name.startswith("."):
            continue
        try:
            unread = msgspec.json.decode(read_capped(root / "unread" / name, 100_000, follow_links=False), type=Unread)
        except (OSError, FileError, msgspec.DecodeError):
            continue
        if f"{unread.session_id}.json" == name:
            yield unread
