"""
Read the verdict of a model: `{"ok": true}`, `{"ok": false, "reason": ...}`, `{"nudge": ...}` or `{"pass": true}`, or
one of the tagged results `"Continue"` and `{"Reject": {"reason": ...}}`.

INVARIANT: a model can only deny or advise. No answer becomes an allow or a rewrite, and an answer that cannot be read
is a failure, not an approval.
"""

import json
import re
from typing import Any

from snell.llm.messages import json_objects
from snell.model.decision import Failure, Outcome
from snell.model.effects import Deny, Effect, Note, Stop, Tell
from snell.model.events import Event

ANSWER_RULES = (
    'Answer with one JSON object and nothing else: {"ok": true} if what you were asked to check holds, or '
    '{"ok": false, "reason": "why, in one or two sentences"} if it does not.'
)
NO_REASON = "the model refused without a reason"
_READ_CHARACTERS = 20_000  # at either end
_ANSWERS = frozenset({"ok", "pass", "nudge", "ModifyInput"})
_TAGS = {"Continue": True, "Reject": False}
_OBJECT = re.compile(r'\{\s*"')
_ANSWER = re.compile(r'\{\s*"(?:ok|reason|impossible|pass|nudge|Reject|Continue|ModifyInput)"')
# A refusal that is cut off at the end of the text, with its reason after or before it.
_CUT = re.compile(
    r"""
    \{\s* (?:"reason"\s*:\s*"(?P<first>(?:[^"\\]|\\.)*)"\s*,\s*)?
    "ok"\s*:\s*false\s*
    (?:,\s* (?:"\w* | "reason"\s*:?\s* (?:"(?P<reason>(?:[^"\\]|\\.)*) (?:\\|"(?:\s*,[^{}]*)?)?)? )? )? \s*\Z
    """,
    re.VERBOSE | re.DOTALL,
)


def outcome_of_text(
    text: str, event: Event, *, begins: str = "", ends_turn: bool = False, thinks_aloud: bool = False
) -> Outcome:
    """
    Return the outcome of an answer: of any refusal in it, else of its first object.

    `begins` is the beginning of the answer in the request; some servers repeat it. With `thinks_aloud`, other objects
    may come before the answer.
    """
    whole = _both_ends(begins + text.strip())
    found, broken = _objects(whole, begins)
    if (word := text.strip().strip('"')) in _TAGS:
        found, broken = [{"ok": _TAGS[word]}], []
    answers = [each for each in found if _ANSWERS & each.keys()] if thinks_aloud else found
    refusal = next((each for each in found if each.get("ok") is False), None) or _cut_refusal(whole, broken)
    if refusal is not None:
        return Outcome(_refusal(refusal, event, ends_turn=ends_turn))
    if broken or not answers:
        return _unreadable(text)
    return _outcome_without_refusal(answers[0], event) or _unreadable(text)


def _cut_refusal(text: str, broken: list[int]) -> dict[str, Any] | None:
    """Return a refusal whose end is missing because the answer was cut off."""
    text = text if len(text) <= 2 * _READ_CHARACTERS else text[:_READ_CHARACTERS]
    cut = next((found for at in broken if (found := _CUT.match(text, at))), None)
    if cut is None:
        return None
    reason = (cut["reason"] or cut["first"] or "").strip()
    return {"ok": False, "reason": f"{reason} … [cut off]" if reason else ""}


def _outcome_without_refusal(answer: dict[str, Any], event: Event) -> Outcome | None:
    if "ModifyInput" in answer:
        why = "a model may not change the input, only refuse it; use a command or a Python function"
        return Outcome(failure=Failure("effect", why))
    if isinstance(answer.get("ok"), bool) or answer.get("pass") is True:
        return Outcome()
    if isinstance(answer.get("nudge"), str) and answer["nudge"].strip():
        # Advice for the model; at the end of a turn also for the user, who acts next.
        text = answer["nudge"].strip()
        return Outcome((Note(text), Tell(text)) if event.row.ends_turn else (Note(text),))
    return None


def _unreadable(text: str) -> Outcome:
    shown = " ".join(text.split())[:120]
    return Outcome(failure=Failure("output", f"the model's answer cannot be read: `{shown}`"))


def _refusal(answer: dict[str, Any], event: Event, *, ends_turn: bool) -> tuple[Effect, ...]:
    given = answer.get("reason")
    reason = given.strip() if isinstance(given, str) and given.strip() else NO_REASON
    if event.row.ends_turn and answer.get("impossible") is True:
        return (Stop(reason),)  # the agent cannot reach its goal, so do not keep it working
    if ends_turn and event.row.refusal_ends_turn:
        return Deny(reason), Stop(reason)
    return (Deny(reason),)


def _both_ends(text: str) -> str:
    """Return both ends of a very long answer, since searching all of it could take long."""
    return text if len(text) <= 2 * _READ_CHARACTERS else f"{text[:_READ_CHARACTERS]}\n{text[-_READ_CHARACTERS:]}"


def _objects(text: str, begins: str) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the objects in a text, and the positions where an object begins that cannot be read."""
    found: list[dict[str, Any]] = []
    broken: list[int] = []
    for at, value in json_objects(text, json.JSONDecoder(object_pairs_hook=_without_repeats)):
        if value is not None:
            found.append(_without_tag(value))
        elif (_OBJECT if begins and at == 0 else _ANSWER).match(text, at):
            broken.append(at)
    return found, broken


def _without_tag(answer: dict[str, Any]) -> dict[str, Any]:
    tag = next((tag for tag in _TAGS if tag in answer), "")
    given = answer.get(tag)
    fields = given if isinstance(given, dict) else {"reason": given}
    return {**answer, **fields, "ok": _TAGS[tag]} if tag else answer


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found
