"""
Remember what sub-agents were asked for.

Why      When a sub-agent stops, its client does not report what it was asked, nor when it started.
What     Its call is noted with the time and with whether files were asked for, until the sub-agent has stopped.
Instead  Nothing else is stored, in particular not the prompt.
"""

import re
from typing import Any

from msgspec import Struct

from snell.model.context import Context
from snell.model.events import Event, as_tables, session_scope, text_in
from snell.sdk.decorators import informs
from snell.system.lazy_regex import lazy_regex
from snell.system.wall_clock import now_ms

BEGAN, EXPECTED, AGENT = "harness/began", "harness/expected", "harness/agent/"
MOST = 50
LONGEST_PROMPT = 50_000
# A report as a thing, not `report back`; or something that is written to a file.
_ASKS_FOR_FILES = lazy_regex(
    r"\b(?:a|an|the|your|its|final|full|short|written|html|markdown|pdf)\s+(?:\w+\s+){0,2}report\b(?!\s+back)|\breport\.\w+"
    r"|\b(?:artefacts?|artifacts?|deliverables?|work[_ ]products?|search[_ ]results?/|write-up)\b"
    r"|\b(?:save|write|store|export|produce|create|generate|put|leave|render|dump)\b[^.\n]{0,80}"
    r"(?:\bfiles?\b|\.[a-z]{2,5}\b|\w/\w)",
    re.IGNORECASE,
)


class Expectation(Struct, frozen=True):
    """When a sub-agent started, and what it was asked for."""

    since: int = 0  # milliseconds
    is_for_files: bool | None = None  # None if that is unknown
    names_folder: bool = False  # its prompt names a folder in which files are expected


@informs("SessionStart")
def note_start_time(event: Event, context: Context) -> None:
    """Note when the session started: files from before are not its work."""
    scope = session_scope(event)
    if context.marks.get(scope, BEGAN) is None:
        context.marks.put(scope, BEGAN, now_ms())


@informs("PreToolUse", kind="agent")
def note_subagent_call(event: Event, context: Context) -> None:
    """Note a call that starts a sub-agent."""
    asked = " ".join(text_in(event.tool_input, name) for name in ("prompt", "description", "task", "instructions"))
    # A prompt that contains the folder of a pattern asks for files in it.
    folders = [first for each in patterns(context, "report", "data") if (first := each.partition("/")[0])]
    names_one = any(first in asked for first in folders if not set("*?[") & set(first))
    is_for_files = names_one or bool(_ASKS_FOR_FILES.search(asked[:LONGEST_PROMPT]))
    expected = {
        "id": event.tool_use_id,
        "type": text_in(event.tool_input, "subagent_type"),
        "at": now_ms(),
        "is_for_files": is_for_files,
        "names_folder": names_one,
    }
    context.marks.put(session_scope(event), EXPECTED, [*_pending(event, context), expected][-MOST:])


@informs("SubagentStart")
def match_subagent(event: Event, context: Context) -> None:
    """Match a sub-agent that starts with the first pending call of its type."""
    kind, pending = text_in(event.payload, "agent_type"), _pending(event, context)
    expected = next((each for each in pending if each.get("type") == kind), pending[0] if pending else None)
    known = {**(expected or {}), "at": now_ms()}
    for name in {event.agent_id, known.get("id") or event.agent_id}:  # the end of its call is known by the call
        context.marks.put(session_scope(event), f"{AGENT}{name}", known)
    if expected:
        context.marks.put(session_scope(event), EXPECTED, [each for each in pending if each is not expected])


def expectation_of(event: Event, context: Context) -> Expectation:
    """Return the expectation of the sub-agent that this event is about."""
    known = context.marks.get(session_scope(event), f"{AGENT}{event.agent_id or event.tool_use_id}")
    if not isinstance(known, dict):
        pending = _pending(event, context)
        fitting = (each for each in pending if event.tool_use_id and each.get("id") == event.tool_use_id)
        known = next(fitting, pending[-1] if pending else {})
    began, asked = known.get("at") or context.marks.get(session_scope(event), BEGAN), known.get("is_for_files")
    since, is_for_files = began if isinstance(began, int) else 0, asked if isinstance(asked, bool) else None
    return Expectation(since, is_for_files, known.get("names_folder") is True)


def patterns(context: Context, *options: str) -> list[str]:
    """Return the patterns of files in these options."""
    given = (context.options.get(name) for name in options)
    return [each for found in given if isinstance(found, list) for each in found if isinstance(each, str) and each]


def _pending(event: Event, context: Context) -> list[dict[str, Any]]:
    return as_tables(context.marks.get(session_scope(event), EXPECTED))
