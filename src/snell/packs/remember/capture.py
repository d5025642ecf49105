"""
Remember what was worth it.

Why      What a session found out is gone with it, and the next one finds it out again.
What     After a tool call, before a compaction and at the end of a turn, texts that say something lasting (a decision,
         a cause, a convention) go into the inbox `memory/` of Snell's state, without their secrets; from there they
         become memories of this project. All of it happens after the answer.
Instead  It is off until `[pack.remember] enabled = true`; `capture = false` keeps what is remembered by hand only.
"""

import time
from collections.abc import Callable
from pathlib import Path

from snell.kit.authoring import watches
from snell.kit.here import Here
from snell.machine.files import locked
from snell.machine.paths import make_private
from snell.machine.transcript_delta import is_session, is_transcript, keep_position, lines_since, position
from snell.machine.transcript_formats import said_in
from snell.memory.extraction import content_of, is_skipped
from snell.model.events import Event
from snell.packs.remember._pipeline import Captured, capture, hashes_in, inbox_of, pieces

RECENT = 50  # ids of messages by which one that is written again is recognised


@watches("PostToolUse", timeout=30)
def after_a_tool(event: Event, here: Here) -> None:
    """Capture what a tool call says that is worth remembering."""
    if here.options.get("capture") and not is_skipped(event.tool):
        captured_from_tool(event, here)


@watches("PreCompact", timeout=60)
def before_compaction(event: Event, here: Here) -> None:
    """Capture what the agent said since the last look, before its context goes."""
    if here.options.get("capture"):
        captured_from_transcript(event, here, trigger=str(event.payload.get("trigger") or "compact"))


@watches("Stop", "SessionEnd", timeout=60)
def at_the_end(event: Event, here: Here) -> None:
    """Capture what the agent said since the last look; not in a turn that only goes on because of a hook."""
    if here.options.get("capture") and not event.is_continuation:
        captured_from_transcript(event, here, trigger="session_end")


def captured_from_tool(event: Event, here: Here) -> Captured:
    """One tool call, all the way; the result says what became of it."""
    text = content_of(event.tool, event.tool_input, event.tool_response)
    if not text.strip():
        return Captured(reason="nothing to capture")
    path = event.tool_input.get("file_path") or event.tool_input.get("notebook_path")
    context = {"tool_name": event.tool, "session_id": event.session_id, "file_path": path}
    return capture(text, event, here, tag=event.tool, context=context)


def captured_from_transcript(event: Event, here: Here, *, trigger: str) -> list[Captured]:
    """All that is new in the transcript, in pieces."""
    inbox = inbox_of(here)
    if inbox is None or not is_session(event.session_id):
        return []
    known = hashes_in(inbox)
    context = {"session_id": event.session_id, "hook_event": event.name, "trigger": trigger}

    def take(text: str) -> list[Captured]:
        return [capture(piece, event, here, tag="transcript", context=context, known=known) for piece in pieces(text)]

    if is_transcript(event.transcript_path):
        return _from_file(event, inbox.root, take)
    last = event.payload.get("last_assistant_message")  # some clients have no transcript that can be read
    return take(last) if isinstance(last, str) else []


def _from_file(event: Event, root: Path, take: Callable[[str], list[Captured]]) -> list[Captured]:
    """INVARIANT: the position moves on after what was read is in the inbox; a crash in between repeats, never loses."""
    state = root / "state"
    make_private(root)
    make_private(state)
    done: list[Captured] = []
    with locked(state / "transcripts.lock"):
        begin = position(state, event.session_id)
        offset, recent = begin.last_offset, list(begin.recent)
        for line, after in lines_since(event.transcript_path, begin.last_offset):
            offset = after
            said = said_in(line, event.client)
            if said and (not said.id or said.id not in recent):
                done += take(said.text)
                recent = [*recent, said.id][-RECENT:]
        keep_position(state, event.session_id, offset, time.time(), tuple(recent))
    return done
