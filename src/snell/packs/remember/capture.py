"""
Capture what is worth remembering.

Why      What a session found out is lost with it, and the next one finds it out again.
What     After a tool call, before a compaction and at the end of a turn, texts that state something lasting (a
         decision, a cause, a convention) go into the inbox `memory/` of Snell's state, without secrets; from there they
         become memories of this project. All of it happens after the reply.
Instead  It is off until `[pack.remember] enabled = true`; with `capture = false` only explicit requests are stored.
"""

from snell.memory.capture import CaptureResult, capture, hashes_in, inbox_of, pieces, source_of
from snell.memory.tool_extraction import content_of, is_skipped
from snell.memory.transcript_capture import capture_new, source_of_transcript
from snell.memory.transcript_position import is_session, is_transcript
from snell.model.context import Context
from snell.model.effects import Extra, Remark
from snell.model.events import Event, session_scope
from snell.packs.remember.off import skip_while_off
from snell.sdk.decorators import informs, watches
from snell.system.wall_clock import now_ms

TIMER = "remember/timer"  # of a session: when its running transcript was last read


@watches("PostToolUse", timeout=30, waits=True)
def capture_tool_call(event: Event, context: Context) -> Remark | None:
    """Capture the text of a tool call if it is worth remembering."""
    if not context.options.get("capture"):
        return None
    results = [] if is_skipped(event.tool) else [capture_tool(event, context)]
    if _is_due(event, context):
        results += capture_transcript(event, context, trigger="timer")
    return _record(results)


@informs("PostToolUse", "Stop")
def answer_every_capture(context: Context) -> Extra | None:
    """With `answer = true`, answer every capture in the same way, also one that stored nothing."""
    return Extra("suppressOutput", True) if context.options.get("answer") else None


@watches("PreCompact", timeout=60, waits=True)
def capture_before_compaction(event: Event, context: Context) -> Remark | None:
    """Capture the agent's new messages before its context is compacted."""
    if context.options.get("capture"):
        return _record(capture_transcript(event, context, trigger=str(event.payload.get("trigger") or "compact")))
    skip_while_off(event, context)
    return None


@watches("Stop", "SessionEnd", timeout=60, waits=True)
def capture_at_end(event: Event, context: Context) -> Remark | None:
    """Capture the agent's new messages; not in a turn that only continues because of a hook."""
    if not context.options.get("capture"):
        skip_while_off(event, context)
    elif not event.is_continuation:
        return _record(capture_transcript(event, context, trigger="session_end"))
    return None


def _record(results: list[CaptureResult]) -> Remark | None:
    """Return what became of each text, for `snell why`."""
    lines = [_describe(each) for each in results if each.length]
    return Remark("\n".join(lines)) if lines else None


def _describe(result: CaptureResult) -> str:
    what = f"captured in {result.path}" if result.queued else f"not captured: {result.reason}"
    signal = f"tier {result.tier}, score {result.score:g}, {', '.join(result.patterns) or 'no signal'}"
    return f"{what} ({signal}, {result.redactions} redactions, {result.length} characters)"


def _is_due(event: Event, context: Context) -> bool:
    """Whether `every_minutes` have passed since the session began, or since this was last true."""
    minutes, now = context.options.get("every_minutes", 0), now_ms()
    if not minutes:
        return False
    scope = session_scope(event)
    last = context.marks.get(scope, TIMER)
    if last and now - last < minutes * 60_000:
        return False
    context.marks.put(scope, TIMER, now)
    return bool(last)  # the first call only starts the clock


def capture_tool(event: Event, context: Context) -> CaptureResult:
    """Capture one tool call; returns the result."""
    text = content_of(event.tool, event.tool_input, event.tool_response)
    if not text.strip():
        return CaptureResult(reason="nothing to capture")
    path = event.tool_input.get("file_path") or event.tool_input.get("notebook_path")
    origin = {"tool_name": event.tool, "session_id": event.session_id, "file_path": path}
    return capture(text, source_of(event, context, tag=event.tool, origin=origin), inbox_of(context))


def capture_transcript(event: Event, context: Context, *, trigger: str) -> list[CaptureResult]:
    """Capture what is new in the transcript; without a transcript, the last message."""
    inbox = inbox_of(context)
    if inbox is None or not is_session(event.session_id):
        return []
    if is_transcript(event.transcript_path):
        return capture_new(event, context, trigger)
    last = event.payload.get("last_assistant_message")  # some clients have no readable transcript
    if not isinstance(last, str):
        return []
    known, source = hashes_in(inbox), source_of_transcript(event, context, trigger)
    cuts = context.options.get("long_messages") == "cut"
    return [capture(piece, source, inbox, known) for piece in pieces(last, cuts=cuts)]
