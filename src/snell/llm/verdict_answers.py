"""
What a model that judges an event answered: `{"ok": true}`, `{"ok": false, "reason": ...}`, `{"nudge": ...}` or
`{"pass": true}`.

INVARIANT: a model may only tighten. Nothing it says becomes an allow or a rewrite, and what cannot be read is a
failure, not an approval.
"""

import json
import re
from typing import Any

from snell.model.decision import Failure, Outcome
from snell.model.effects import Deny, Effect, Note, Stop, Tell
from snell.model.events import Event

ANSWER_RULES = (
    'Answer with one JSON object and nothing else: {"ok": true} if what you were asked to check holds, or '
    '{"ok": false, "reason": "why, in one or two sentences"} if it does not.'
)
NO_REASON = "the model refused without a reason"
_LOOKED_AT = 20_000  # characters, at either end
_ANSWERS = frozenset({"ok", "pass", "nudge"})
_OBJECT = re.compile(r'\{\s*"')
_ANSWER = re.compile(r'\{\s*"(?:ok|reason|impossible|pass|nudge)"')
# Up to the end of the text nothing but a refusal, with its reason after or before it, as far as it got.
_CUT = re.compile(
    r"""
    \{\s* (?:"reason"\s*:\s*"(?P<first>(?:[^"\\]|\\.)*)"\s*,\s*)?
    "ok"\s*:\s*false\s*
    (?:,\s* (?:"\w* | "reason"\s*:?\s* (?:"(?P<reason>(?:[^"\\]|\\.)*) (?:\\|"(?:\s*,[^{}]*)?)?)? )? )? \s*\Z
    """,
    re.VERBOSE | re.DOTALL,
)
_TURN_ENDERS = frozenset({"PreToolUse", "PostToolUse", "TeammateIdle"})
_TURN_ENDS = frozenset({"Stop", "SubagentStop"})


def outcome_of_text(
    text: str, event: Event, *, begins: str = "", ends_turn: bool = False, thinks_aloud: bool = False
) -> Outcome:
    """
    The outcome of an answer: its first object counts, and any refusal in it counts before that.

    `begins` is what we began the answer with; a server that cannot continue it answers whole. Who `thinks_aloud` may
    show other objects before the answer.
    """
    whole = _shortened(begins + text.strip())
    found, broken = _objects(whole, begins)
    answers = [each for each in found if _ANSWERS & each.keys()] if thinks_aloud else found
    refusal = next((each for each in found if each.get("ok") is False), None) or _cut_refusal(whole, broken)
    if refusal is not None:
        return Outcome(_refusal(refusal, event, ends_turn=ends_turn))
    if broken or not answers:
        return _unreadable(text)
    return _harmless(answers[0], event) or _unreadable(text)


def _cut_refusal(text: str, broken: list[int]) -> dict[str, Any] | None:
    """A refusal whose end is missing, since there were no tokens left for it or it ran away."""
    text = text if len(text) <= 2 * _LOOKED_AT else text[:_LOOKED_AT]
    cut = next((found for at in broken if (found := _CUT.match(text, at))), None)
    if cut is None:
        return None
    reason = (cut["reason"] or cut["first"] or "").strip()
    return {"ok": False, "reason": f"{reason} … [cut off]" if reason else ""}


def _harmless(answer: dict[str, Any], event: Event) -> Outcome | None:
    if isinstance(answer.get("ok"), bool):
        return Outcome()
    if answer.get("pass") is True:
        return Outcome()
    if isinstance(answer.get("nudge"), str) and answer["nudge"].strip():
        return Outcome(_nudge(answer["nudge"].strip(), event))
    return None


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


def _shortened(text: str) -> str:
    """Both ends of an answer that runs away; looking for objects in all of it could take long."""
    return text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"


def _objects(text: str, begins: str) -> tuple[list[dict[str, Any]], list[int]]:
    """The objects in a text, and where something begins like an answer and cannot be read."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats)
    found: list[dict[str, Any]] = []
    broken: list[int] = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            if (_OBJECT if begins and at == 0 else _ANSWER).match(text, at):
                broken.append(at)
            end = at + 1
        else:
            found.append(value)
        at = text.find("{", end)
    return found, broken


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found
