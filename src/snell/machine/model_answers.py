"""
What a model that judges an event answered: `{"ok": true}`, `{"ok": false, "reason": ...}`, `{"nudge": ...}` or
`{"pass": true}`.

INVARIANT: a model may only tighten. Nothing it says becomes an allow or a rewrite, and what cannot be read is a
failure, not an approval.
"""

import json
from typing import Any

from snell.model.decision import Failure, Outcome
from snell.model.effects import Deny, Effect, Note, Stop, Tell
from snell.model.events import Event

ANSWER_RULES = (
    'Answer with one JSON object and nothing else: {"ok": true} if what you were asked to check holds, or '
    '{"ok": false, "reason": "why, in one or two sentences"} if it does not.'
)
NO_REASON = "the model refused without a reason"
_LAST_CHARACTERS = 20_000
_TURN_ENDERS = frozenset({"PreToolUse", "PostToolUse", "TeammateIdle"})
_TURN_ENDS = frozenset({"Stop", "SubagentStop"})


def outcome_of_text(
    text: str, event: Event, *, begins: str = "", ends_turn: bool = False, last: bool = False
) -> Outcome:
    """
    The outcome of an answer: the object in it, from the first brace to the last, or the last object of all.

    `begins` is what we began the answer with; a server that cannot continue it answers whole.
    """
    answer = _last_object(text) if last else (_decoded(begins + text.strip()) if begins else None) or _object(text)
    if answer is None:
        return _unreadable(text)
    if isinstance(answer.get("ok"), bool):
        return Outcome(() if answer["ok"] else _refusal(answer, event, ends_turn=ends_turn))
    if answer.get("pass") is True:
        return Outcome()
    if isinstance(answer.get("nudge"), str) and answer["nudge"].strip():
        return Outcome(_nudge(answer["nudge"].strip(), event))
    return _unreadable(text)


def _unreadable(text: str) -> Outcome:
    shown = " ".join(text.split())[:120]
    return Outcome(failure=Failure("output", f"the model's answer cannot be read: `{shown}`"))


def _refusal(answer: dict[str, Any], event: Event, *, ends_turn: bool) -> tuple[Effect, ...]:
    given = answer.get("reason")
    reason = given.strip() if isinstance(given, str) and given.strip() else NO_REASON
    if event.name in _TURN_ENDS and answer.get("impossible") is True:
        return (Stop(reason),)  # the agent cannot get there, so keeping it at work helps nobody
    if ends_turn and event.name in _TURN_ENDERS:
        return Deny(reason), Stop(reason)
    return (Deny(reason),)


def _nudge(text: str, event: Event) -> tuple[Effect, ...]:
    """Advice: for the model; at the end of a turn for the person too, who speaks next."""
    return (Note(text), Tell(text)) if event.name in _TURN_ENDS else (Note(text),)


def _object(text: str) -> dict[str, Any] | None:
    start, end = text.find("{"), text.rfind("}")
    return _decoded(text[start : end + 1]) if 0 <= start < end else None


def _last_object(text: str) -> dict[str, Any] | None:
    """An agent thinks aloud before it answers, maybe with braces."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats)
    text = text[-_LAST_CHARACTERS:]
    found: dict[str, Any] | None = None
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found = value if isinstance(value, dict) else found
        at = text.find("{", end)
    return found


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
