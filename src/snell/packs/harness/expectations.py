"""
Remember what sub-agents were sent for.

Why      When a sub-agent stops, its client does not say what it was asked, nor since when it works.
What     Its call is remembered with the time and with whether files were asked for, until the sub-agent has stopped.
Instead  Nothing is kept but that; the prompt itself is not.
"""

import re
from typing import Any

from msgspec import Struct

from snell.model.context import Context
from snell.model.events import Event, text_in
from snell.sdk.decorators import informs
from snell.system.lazy_regex import lazy_regex
from snell.system.wall_clock import now_ms

BEGAN, ERRANDS, AGENT = "harness/began", "harness/errands", "harness/agent/"
MOST = 50
LONGEST_PROMPT = 50_000
# A report as a thing, not `report back`; or something that is put into a file.
_ASKS_FOR_FILES = lazy_regex(
    r"\b(?:a|an|the|your|its|final|full|short|written|html|markdown|pdf)\s+(?:\w+\s+){0,2}report\b(?!\s+back)|\breport\.\w+"
    r"|\b(?:artefacts?|artifacts?|deliverables?|work[_ ]products?|search[_ ]results?/|write-up)\b"
    r"|\b(?:save|write|store|export|produce|create|generate|put|leave|render|dump)\b[^.\n]{0,80}"
    r"(?:\bfiles?\b|\.[a-z]{2,5}\b|\w/\w)",
    re.IGNORECASE,
)


class Expectation(Struct, frozen=True):
    """Since when a sub-agent works, and whether it was asked for files; None where nobody knows."""

    since: int = 0  # milliseconds
    is_for_files: bool | None = None


@informs("SessionStart")
def begin(event: Event, context: Context) -> None:
    """What was there before the session is nobody's work in it."""
    scope = _scope(event)
    if context.marks.get(scope, BEGAN) is None:
        context.marks.put(scope, BEGAN, now_ms())


@informs("PreToolUse", kind="agent")
def send(event: Event, context: Context) -> None:
    """A sub-agent is sent out."""
    asked = " ".join(text_in(event.tool_input, name) for name in ("prompt", "description", "task", "instructions"))
    names = _folders(context)
    is_for_files = bool(_ASKS_FOR_FILES.search(asked[:LONGEST_PROMPT])) or any(name in asked for name in names)
    errand = {
        "id": event.tool_use_id,
        "type": text_in(event.tool_input, "subagent_type"),
        "at": now_ms(),
        "is_for_files": is_for_files,
    }
    context.marks.put(_scope(event), ERRANDS, [*_waiting(event, context), errand][-MOST:])


@informs("SubagentStart")
def start(event: Event, context: Context) -> None:
    """The sub-agent that was sent out first, of this type, is the one that starts."""
    kind, waiting = text_in(event.payload, "agent_type"), _waiting(event, context)
    errand = next((each for each in waiting if each.get("type") == kind), waiting[0] if waiting else None)
    known = {"at": now_ms(), "is_for_files": errand.get("is_for_files") if errand else None}
    context.marks.put(_scope(event), f"{AGENT}{event.agent_id}", known)
    if errand:
        context.marks.put(_scope(event), ERRANDS, [each for each in waiting if each is not errand])


def expectation_of(event: Event, context: Context) -> Expectation:
    """Of the sub-agent that this event is about."""
    known = context.marks.get(_scope(event), f"{AGENT}{event.agent_id}")
    if not isinstance(known, dict):
        sent = _waiting(event, context)
        fitting = (each for each in sent if event.tool_use_id and each.get("id") == event.tool_use_id)
        known = next(fitting, sent[-1] if sent else {})
    began, asked = known.get("at") or context.marks.get(_scope(event), BEGAN), known.get("is_for_files")
    return Expectation(began if isinstance(began, int) else 0, asked if isinstance(asked, bool) else None)


def _folders(context: Context) -> list[str]:
    """The folders that the patterns name: a prompt with one of them speaks of what should come into it."""
    patterns = [
        each for name in ("report", "data") for each in context.options.get(name) or () if isinstance(each, str)
    ]
    return [first for pattern in patterns if (first := pattern.partition("/")[0]) and not set("*?[") & set(first)]


def _waiting(event: Event, context: Context) -> list[dict[str, Any]]:
    found = context.marks.get(_scope(event), ERRANDS)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _scope(event: Event) -> str:
    return f"session:{event.session_id}"
