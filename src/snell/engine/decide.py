"""
Decides one event.

`decide` is a generator: it yields which hooks to run on which event and receives their outcomes, in the same order.
Policy hooks come first, then all others, by the same passes: declared rewriters in turn, then judges, informers and
hooks without a declared role together; with `order = "sequential"` all hooks in turn. What others rewrote goes through
the policy once more. It runs nothing itself; the drivers in `runtime/event_flow.py` do.
"""

from collections.abc import Generator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.aggregate import aggregate, is_about, is_denied, last_answers
from snell.engine.deferred_notes import HELD_NOTES, deliver_or_hold
from snell.engine.limit_effects import express_effect, limit_effects, rewrite_in
from snell.engine.registry import once_mark, rewrite_order
from snell.engine.repeated_additions import is_repeated
from snell.engine.stop_limits import limit_stops
from snell.model.decision import QUIET, Change, Decision, Failure, Outcome, Round, Skipped
from snell.model.effects import Allow, Ask, Defer, Deny, Rewrite, Stop
from snell.model.events import Event, json_equal, session_scope
from snell.model.hooks import Hook, Pick, Scope, Tier
from snell.model.protocols import HookRegistry, Store, Validate


class Run(Struct, frozen=True):
    """A request to the driver: run these hooks on this event, together."""

    hooks: tuple[Hook, ...]
    event: Event


_TURN = frozenset({"prompt", "turn", "agent"})  # subjects of events that start or end a turn

Answers = dict[Hook, Outcome]
NO_LONGER = Outcome(remarks=("its condition does not hold for what will run",))
ALREADY_THERE = "what it would add is already there"

Steps = Generator[Run, Sequence[Outcome], None]
Answering = Generator[Run, Sequence[Outcome], Answers]


def decide(
    event: Event, registry: HookRegistry, marks: Store, validate: Validate | None = None
) -> Generator[Run, Sequence[Outcome], Decision]:
    """Decide one event."""
    pick = registry.pick(event, marks)
    given: list[Sequence[Outcome]] = []
    rounds: tuple[Round, ...] = ()
    for name, hooks in pick.rounds:  # usually there is one round, and no hook has an effect
        outcomes = yield Run(hooks, event)
        if outcomes.count(QUIET) < len(outcomes) and not _all_quiet(outcomes):
            given = [*(each.outcomes for each in rounds), outcomes]
            break
        rounds = (*rounds, Round(name, event, hooks, tuple(outcomes)))
    else:
        if rounds:
            return finish_decision(Decision(event=event, rounds=rounds, in_ledger=pick.keeps_call), marks)
    case = Case(event, pick, registry, validate)
    yield from _decide_tiers(case, marks, given)
    if pick.needs_check_per_event:
        _mark_once(case, marks)
    if case.is_quiet:
        return finish_decision(Decision(event=event, rounds=tuple(case.rounds), in_ledger=pick.keeps_call), marks)
    decision = aggregate(case.event, pick.hooks, case.rounds, case.changes, case.skipped)
    return finish_decision(replace(decision, in_ledger=pick.keeps_call), marks)


def finish_decision(decision: Decision, marks: Store) -> Decision:
    """Apply what earlier events left in the marks: notes that wait, and how often a stop was blocked."""
    event = decision.event
    if event.row.subject in _TURN:
        decision = limit_stops(decision, marks)  # first: a note that went along with a lifted block has to wait
    if not decision.notes and (not event.takes_notes or not marks.get(f"session:{event.session_id}", HELD_NOTES)):
        return decision  # nearly always
    return deliver_or_hold(decision, marks)


class Case:
    """One event while it is decided."""

    def __init__(self, event: Event, pick: Pick, registry: HookRegistry, validate: Validate | None) -> None:
        self.event = event
        self.pick = pick
        self.registry = registry
        self.validate = validate
        self.rounds: list[Round] = []
        self.changes: list[Change] = []
        self.skipped: list[Skipped] = []
        self.policy_has_denied = False
        self.left_by_policy: Event | None = None  # the event after the policy's hooks, when they ran first
        self.rewrote: Answers = {}  # hooks without a declared role that rewrote, with the outcome that did
        self.is_policy_last = False  # the policy's hooks have their second turn
        self.is_over = False  # in sequential order: a hook of this tier has denied, so no other one runs
        self.is_quiet = True  # no hook has asked for anything or failed; most events stay so

    def run(self, name: str, hooks: Sequence[Hook]) -> Answering:
        """Run those of these hooks that apply to the event as it is now."""
        running = tuple(hook for hook in hooks if self.registry.applies(hook, self.event))
        if len(running) == len(hooks) and isinstance(hooks, tuple):
            running = hooks  # the same object for the same kind of event, by which the executor finds its plan
        answers: Answers = {}
        if running:
            answers = self.enter(name, running, (yield Run(running, self.event)))
        # An answer on an input that will not run is dropped, when the hook does not apply to the one that will.
        dropped = tuple(hook for hook in hooks if hook not in answers and self.has_answered(hook))
        if dropped:
            self.rounds.append(Round(name, self.event, dropped, (NO_LONGER,) * len(dropped)))
        return answers

    def enter(self, name: str, hooks: tuple[Hook, ...], outcomes: Sequence[Outcome]) -> Answers:
        """Enter the outcomes of hooks, reduced to the effects that are allowed."""
        if not _all_quiet(outcomes) or self.rewrote:
            self.is_quiet = False
            outcomes = self._limit(name, hooks, outcomes)
        self.rounds.append(Round(name, self.event, hooks, tuple(outcomes)))
        return dict(zip(hooks, outcomes, strict=True))

    def has_answered(self, hook: Hook) -> bool:
        return any(hook in each.hooks for each in self.rounds)

    def _limit(self, name: str, hooks: Sequence[Hook], outcomes: Sequence[Outcome]) -> list[Outcome]:
        runs = zip(hooks, outcomes, strict=True)
        kept = [limit_effects(hook, self.event, each, self.registry.switches, self.validate) for hook, each in runs]
        if self.is_policy_last:
            kept = [self._without_repetition(hook, each) for hook, each in zip(hooks, kept, strict=True)]
        if name not in ("again", "last"):
            return kept
        return [self._second_look(name, hook, each) for hook, each in zip(hooks, kept, strict=True)]

    def _without_repetition(self, hook: Hook, outcome: Outcome) -> Outcome:
        """Leave out a rewrite that would only add again what this hook added before the others had their turn."""
        rewrite, now = rewrite_in(outcome), self.event.rewritable
        mine = [change for change in self.changes if change.hook == hook.id]
        if rewrite is None or not any(is_repeated(change, now, rewrite.applied_to(now)) for change in mine):
            return outcome
        kept = tuple(effect for effect in outcome.effects if not isinstance(effect, Rewrite))
        return replace(outcome, effects=kept, remarks=(*outcome.remarks, ALREADY_THERE))

    def _second_look(self, name: str, hook: Hook, outcome: Outcome) -> Outcome:
        if hook in self.rewrote:
            return _stricter(self.rewrote[hook], outcome)
        return _no_further_rewrite(hook, self.event, outcome) if name == "last" else outcome

    def apply(self, hook: Hook, outcome: Outcome) -> None:
        """Apply the rewrite of an outcome to the event."""
        rewrite = rewrite_in(outcome)
        if rewrite is None:
            return
        if hook.role is None:
            self.rewrote[hook] = outcome
        before = self.event.rewritable
        after = rewrite.applied_to(before)
        self.event = self.event.rewritten(after)
        self.changes.append(Change(hook.id, before, after, rewrite.because))

    def policy_must_look_again(self) -> bool:
        """Return whether a lower scope has rewritten what the policy approved."""
        left = self.left_by_policy
        return left is not None and left is not self.event and not json_equal(left.rewritable, self.event.rewritable)

    def has_second_turn(self, hook: Hook) -> bool:
        return self.registry.applies(hook, self.event) and not (hook.once and self.has_answered(hook))

    def must_judge_again(self, hook: Hook, last: dict[Hook, tuple[Hook, Outcome, Event]]) -> bool:
        """Return whether this hook judges, and its last answer is not about the input that will run."""
        if not hook.can_judge or (hook.once and hook in last):
            return False
        if hook in last and is_about(self.event, last[hook][2], last[hook][1]):
            return False
        return hook not in self.rewrote or self.registry.applies(hook, self.event)

    def skip(self, hooks: Sequence[Hook], why: str) -> None:
        self.skipped += [Skipped(hook.id, why) for hook in hooks]


def _decide_tiers(case: Case, marks: Store, given: list[Sequence[Outcome]]) -> Steps:
    for tier in case.pick.tiers:
        if case.policy_has_denied:
            case.skip(tier.hooks, "a policy hook had already denied")
        else:
            yield from _decide_tier(case, tier, marks, given)
    if not case.is_over and case.policy_must_look_again():
        yield from _apply_policy_last(case, case.pick.tiers[0], marks)


def _decide_tier(case: Case, tier: Tier, marks: Store, given: list[Sequence[Outcome]]) -> Steps:
    """Decide the hooks of one tier; `given` holds the outcomes of rounds that have run already."""
    case.is_over = False
    yield from _take_turns(case, tier, "turn" if tier.is_sequential else "rewrite", given)
    if not case.is_over:
        yield from _judge_together(case, tier, marks, given)
    if tier.is_policy and case.pick.tiers[0] is tier and case.event.name != "PostToolUse":
        case.left_by_policy = case.event
        case.policy_has_denied = not case.is_quiet and is_denied(case.event, case.rounds)


def _judge_together(case: Case, tier: Tier, marks: Store, given: list[Sequence[Outcome]]) -> Steps:
    """Run all hooks of a tier that have no turn; in sequential order those that have not seen the result of all."""
    waiting = _judges_that_wait(tier, marks) if tier.is_mixed else ()
    first = tuple(hook for hook in tier.others if hook not in waiting) if waiting else tier.others
    answers = case.enter("judge", first, given.pop(0)) if given else (yield from case.run("judge", first))
    if tier.is_sequential and case.changes:
        first, answers = tier.hooks, (yield from _judge_again(case, tier.hooks))
    if not case.is_quiet:
        yield from _settle_undeclared_rewrites(case, first, answers, marks)
    if waiting:
        yield from case.run("judge", waiting)


def _take_turns(case: Case, tier: Tier, name: str, given: list[Sequence[Outcome]]) -> Steps:
    """Run hooks one after the other, each on the result of the one before; in sequential order until one denies."""
    for place, turn in enumerate(tier.turns):
        hook = turn[0]
        if name == "policy" and not case.has_second_turn(hook):
            continue
        answers = case.enter(name, turn, given.pop(0)) if given else (yield from case.run(name, turn))
        case.apply(hook, answers.get(hook, QUIET))
        if tier.is_sequential and hook in answers and is_denied(case.event, case.rounds[-1:]):
            case.skip(tier.hooks[place + 1 :], "a hook before it had already denied")
            case.is_over = True
            return


def _apply_policy_last(case: Case, policy: Tier, marks: Store) -> Steps:
    """
    Run the policy's hooks again on what lower scopes made of their result, so that its rewrites stay. A text that a
    hook added at an end, and that is still there, is not added a second time.

    Every judge then sees the final input. One that would still change it asks, or denies if it is of the policy.
    """
    judged, case.is_policy_last = case.event, True
    case.rewrote = {hook: outcome for hook, outcome in case.rewrote.items() if hook.scope is not Scope.POLICY}
    yield from _take_turns(case, policy, "policy", [])
    if not case.is_over:
        yield from _chain(case, (yield from _judge_again(case, policy.hooks)), marks)
    if case.event is not judged and not case.is_over:
        yield from _judge_again(case, [hook for tier in case.pick.tiers for hook in tier.hooks], "last")


def _all_quiet(outcomes: Sequence[Outcome]) -> bool:
    for outcome in outcomes:  # noqa: SIM110 - `all` with a generator costs three times as much, on every event
        if outcome is not QUIET and (outcome.effects or outcome.failure):
            return False
    return True


def _settle_undeclared_rewrites(case: Case, hooks: Sequence[Hook], answers: Answers, marks: Store) -> Steps:
    """
    Run hooks without a declared role that rewrote as rewriters, and every other judge on the result.

    One that wants to rewrite only then has its turn, too, and all judge once more. A hook that rewrote may object to
    what later ones made of its result, but not rewrite again. INVARIANT: what is judged last is what runs.
    """
    for name in ("again", "last"):
        if not (yield from _chain(case, answers, marks)):
            return
        answers = yield from _judge_again(case, hooks, name)


def _chain(case: Case, answers: Answers, marks: Store) -> Generator[Run, Sequence[Outcome], bool]:
    """Apply the rewrites among these answers in turn, each on the result of the one before; returns if any."""
    rewriting = rewrite_order([hook for hook, outcome in answers.items() if rewrite_in(outcome)], case.event)
    start = case.event
    for hook in rewriting:
        marks.put("hooks", _rewrites_mark(hook), True)
        outcome = answers[hook]
        if case.event is not start:
            # A `once` hook does not run again, so it has not seen the input that will run: its allow is dropped.
            kept = tuple(effect for effect in outcome.effects if not isinstance(effect, Allow))
            again = case.enter("chain", (hook,), [replace(outcome, effects=kept)]) if hook.once else None
            again = again if again is not None else (yield from case.run("chain", (hook,)))
            outcome = again.get(hook, QUIET)
        case.apply(hook, outcome)
    return bool(rewriting)


def _judge_again(case: Case, hooks: Sequence[Hook], name: str = "again") -> Answering:
    """Run judges on the final input; a `once` hook only if it has not run: its condition may hold only now."""
    last = {answer[0]: answer for answer in last_answers(case.rounds)}
    return (yield from case.run(name, [hook for hook in hooks if case.must_judge_again(hook, last)]))


def _no_further_rewrite(hook: Hook, event: Event, outcome: Outcome) -> Outcome:
    if rewrite_in(outcome) is None:
        return outcome
    why = f"`{hook.id}` would rewrite what had already been rewritten and judged"
    answer = Deny(why) if hook.scope is Scope.POLICY else Ask(why)
    kept = tuple(effect for effect in outcome.effects if not isinstance(effect, Rewrite))
    return replace(outcome, effects=(*kept, *express_effect(answer, event)), failure=Failure("rewrite", why))


def _stricter(earlier: Outcome, later: Outcome) -> Outcome:
    """Join a rewriter's first outcome with its objections to the final input, which it does not rewrite again."""
    kept = tuple(effect for effect in earlier.effects if not isinstance(effect, Rewrite | Allow))
    against = tuple(effect for effect in later.effects if isinstance(effect, Ask | Defer | Deny | Stop))
    new = tuple(effect for effect in against if effect not in kept)
    return replace(later, effects=(*kept, *new), failure=earlier.failure or later.failure)


def _judges_that_wait(tier: Tier, marks: Store) -> tuple[Hook, ...]:
    """Return judges that need not see an input which an undeclared rewriter is known to replace."""
    known = any(hook.role is None and marks.get("hooks", _rewrites_mark(hook)) for hook in tier.others)
    return tuple(hook for hook in tier.others if hook.role == "judges" and not hook.once) if known else ()


def _rewrites_mark(hook: Hook) -> str:
    return f"rewrites:{hook.id}"


def _mark_once(case: Case, marks: Store) -> None:
    """Mark `once` hooks that have run with success; a rewrite that was refused after another one is none."""
    last = {hook: outcome for each in case.rounds for hook, outcome in zip(each.hooks, each.outcomes, strict=True)}
    for hook, outcome in last.items():
        if hook.once and outcome.status == "success" and not outcome.is_pending:
            marks.put(session_scope(case.event), once_mark(hook), True)
