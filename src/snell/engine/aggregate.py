"""
Combines outcomes into a decision: the strongest verdict wins and names its hooks, texts are joined in execution order
within a budget, failures are kept. The result does not depend on which hook finished first.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from snell.engine.limit_effects import judgement_for, rewrite_in
from snell.model.catalogue import TURN_ENDS
from snell.model.decision import Change, Decision, Outcome, Reason, Round, Skipped
from snell.model.effects import VERDICT_OF, Allow, Deny, Effect, Env, Extra, Note, Stop, Tell, Verdict
from snell.model.events import Event, json_equal
from snell.model.hooks import Hook
from snell.model.injected_text import harmless

LIMIT = 8 * 1024  # bytes of UTF-8 that one event gives to the model
CUT = "... (cut: `snell why` has the whole text)"
E = TypeVar("E")
Answers = list[tuple[Hook, Outcome, Event]]


def aggregate(
    event: Event, order: Sequence[Hook], rounds: Sequence[Round], changes: Sequence[Change], skipped: Sequence[Skipped]
) -> Decision:
    """Combine all outcomes of one event."""
    place = {hook: index for index, hook in enumerate(order)}
    answers = sorted(last_answers(rounds), key=lambda answer: place[answer[0]])
    merge: list[str] = []
    verdict, reasons = _verdict(event, answers, changes, merge)
    stops = (_reason(hook, effect) for hook, out, _ in answers for effect in out.effects if isinstance(effect, Stop))
    stop = next(stops, None)
    if stop and event.name in TURN_ENDS and verdict is Verdict.DENY:
        merge.append(f"`{stop.hook}` stops the turn, which beats keeping it going")
        verdict, reasons = Verdict.NO_OPINION, []
    wanted = _texts(answers, Note)
    kept_reasons, notes = cut_to_budget(reasons, wanted)
    if cut := len(reasons) + len(wanted) - len(kept_reasons) - len(notes):
        merge.append(f"{cut} texts are left out: an event has room for {LIMIT // 1024} KB")
    return Decision(
        event=event,
        verdict=verdict,
        reasons=kept_reasons,
        notes=notes,
        tells=cut_to_budget((), _texts(answers, Tell))[1],
        stop=stop,
        changes=tuple(changes),
        env={name: text for effect in _of(answers[::-1], Env) for name, text in effect.variables.items()},
        extras={effect.name: effect.value for effect in _of(answers[::-1], Extra)},  # the first hook's value stays
        failures=tuple(Reason(hook.id, out.failure.message) for hook, out, _ in answers if out.failure),
        merge=tuple(merge),
        rounds=tuple(rounds),
        skipped=tuple(skipped),
    )


def is_denied(event: Event, rounds: Sequence[Round]) -> bool:
    """Return whether these rounds alone deny."""
    return any(
        isinstance(effect, Deny)
        for hook, outcome, _ in last_answers(rounds)
        for effect in (*outcome.effects, _on_failure(hook, event, outcome))
    )


def last_answers(rounds: Iterable[Round]) -> Answers:
    """Return the last answer of each hook, which is the one that counts, and the event it was given on."""
    last: dict[Hook, tuple[Hook, Outcome, Event]] = {}
    for each in rounds:
        for hook, outcome in zip(each.hooks, each.outcomes, strict=True):
            last[hook] = (hook, outcome, each.event)
    return list(last.values())


def _verdict(
    event: Event, answers: Answers, changes: Sequence[Change], merge: list[str]
) -> tuple[Verdict, list[Reason]]:
    given: list[tuple[Verdict, Hook, Effect]] = []
    for hook, outcome, judged in answers:
        for effect in (*outcome.effects, _on_failure(hook, event, outcome)):
            verdict = VERDICT_OF.get(type(effect))
            if verdict is None or effect is None:
                continue
            if isinstance(effect, Allow) and not is_about(event, judged, outcome):
                merge.append(f"allow from `{hook.id}` is ignored: the input was rewritten afterwards")
                continue
            given.append((verdict, hook, effect))
    if not given:
        return Verdict.NO_OPINION, []
    highest = max(verdict for verdict, _, _ in given)
    merge += [f"{verdict.name.lower()} from `{hook.id}`" for verdict, hook, _ in given]
    if len({verdict for verdict, _, _ in given}) > 1:
        merge.append(f"{highest.name.lower()} wins")
    return highest, [_reason(hook, effect) for verdict, hook, effect in given if verdict is highest]


def is_about(event: Event, judged: Event, outcome: Outcome) -> bool:
    """Return whether this answer was given on the input that will run."""
    if judged is event:
        return True
    rewrite = rewrite_in(outcome)
    value = rewrite.applied_to(judged.rewritable) if rewrite else judged.rewritable
    return json_equal(value, event.rewritable)


def _on_failure(hook: Hook, event: Event, outcome: Outcome) -> Effect | None:
    return judgement_for(hook, event, outcome.failure) if outcome.failure else None


def _reason(hook: Hook, effect: Effect) -> Reason:
    return Reason(hook.id, harmless(getattr(effect, "because", "")), harmless(getattr(effect, "instead", "")))


def _texts(answers: Answers, kind: type[Note] | type[Tell]) -> list[Reason]:
    return [
        Reason(hook.id, harmless(effect.text))
        for hook, outcome, _ in answers
        for effect in outcome.effects
        if isinstance(effect, kind) and effect.text
    ]


def _of(answers: Answers, kind: type[E]) -> list[E]:
    return [effect for _, outcome, _ in answers for effect in outcome.effects if isinstance(effect, kind)]


def cut_to_budget(reasons: Sequence[Reason], notes: Sequence[Reason]) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
    """Return both lists, cut where the budget ends: reasons first, then notes, in execution order."""
    kept_reasons, left = _cut_texts(reasons, LIMIT)
    return kept_reasons, _cut_texts(notes, left)[0]


def _cut_texts(texts: Sequence[Reason], left: int) -> tuple[tuple[Reason, ...], int]:
    kept: list[Reason] = []
    for reason in texts:
        size = _size(reason.text) + _size(reason.instead)
        if size <= left:
            kept.append(reason)
            left -= size
        else:
            if left > len(CUT):
                kept.append(Reason(reason.hook, _cut(reason.text, left - len(CUT))))
            left = 0
    return tuple(kept), left


def _cut(text: str, size: int) -> str:
    """Return the beginning of a text; a frame of untrusted text that is open there gets its end."""
    beginning = text.encode("utf-8", "surrogatepass")[:size].decode("utf-8", "ignore")
    ends = re.findall(r"^=+ end .+ [0-9a-f]{12} =+$", text, re.MULTILINE)
    opened = (
        each for each in reversed(ends) if each not in beginning and each.replace(" end ", " begin ") in beginning
    )
    end = next((f"\n{each}" for each in opened), "")
    return beginning[: len(beginning) - len(end)] + CUT + end


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
