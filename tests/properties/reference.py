"""
A deliberately naive model of how one event is decided: the rules, one after the other, without any care for speed.

It shares nothing with the engine but the compiled matcher, so that the two can only agree by both being right.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from snell.engine.match import compile_matcher
from snell.model.decision import Outcome
from snell.model.effects import (
    VERDICT_OF,
    Allow,
    Ask,
    Defer,
    Deny,
    Effect,
    Env,
    Extra,
    Note,
    Rewrite,
    Stop,
    Tell,
    Verdict,
)
from snell.model.events import Event
from snell.model.hooks import Hook, Scope

ENGINE = "<the engine's own words>"
EFFECTS_OF_ROLE = {
    "rewrites": "rewrite note tell",
    "judges": "allow ask defer deny note tell stop",
    "informs": "note tell env extra",
}
TYPE_OF_REWRITABLE = {"tool_input": dict, "prompt": str}
RENAMED = {"Task": "Agent", "Agent": "Task"}
ENDS = ("Stop", "SubagentStop")
ALWAYS_IN_EXTRAS = ("terminalSequence", "suppressOutput")


@dataclass
class World:
    """What surrounds the hooks: switches, the `if` rule, the tools' schemas, and how each hook answers."""

    hooks: Sequence[Hook]
    switches: Any
    condition: Callable[[str, Event], bool]
    validate: Callable[[str, Any], Sequence[str]] | None
    answer: Callable[[Hook, Event], Outcome]


@dataclass
class Memory:
    """What one session remembers from event to event."""

    used_up: set[str] = field(default_factory=set)
    prompts: int = 0
    held: list[tuple[str, str]] = field(default_factory=list)
    blocks: Counter[tuple[str, ...]] = field(default_factory=Counter)


@dataclass
class Answer:
    hook: Hook
    left: Any  # the value the hook was shown, after its own rewrites
    rewrites: list[Rewrite]
    effects: list[Effect]
    failed: bool


@dataclass
class Sum:
    """A decision, reduced to what a caller can notice."""

    value: Any
    is_rewritten: bool
    verdict: Verdict
    reasons: list[tuple[str, str, str]]
    notes: list[tuple[str, str]]
    tells: list[tuple[str, str]]
    stop: tuple[str, str] | None
    failures: list[str]
    env: dict[str, str]
    extras: dict[str, Any]


def decide_by_reference(event: Event, world: World, memory: Memory) -> Sum:
    if event.name == "UserPromptSubmit":
        memory.prompts += 1
    hooks = [hook for hook in sorted(world.hooks, key=lambda hook: hook.scope) if applies(hook, event, world, memory)]
    policy = without_twins([hook for hook in hooks if hook.scope == Scope.POLICY])
    rest = without_twins([hook for hook in hooks if hook.scope != Scope.POLICY])
    run = Run(world)
    last = run.last
    if event.name == "PostToolUse":
        final = run.tier(policy, run.tier(rest, event))
    else:
        after_policy = final = run.tier(policy, event)
        if not any(is_denied(answer) for answer in last.values()):
            final = run.tier(rest, after_policy)
            if not run.is_over and not same(final.rewritable, after_policy.rewritable):
                final = run.policy_last(policy, rest, final)
    # A `once` hook has one run an event, so its last answer is its only one.
    memory.used_up |= {
        hook_id
        for hook_id, answer in last.items()
        if not answer.failed and not any(isinstance(effect, Deny) for effect in answer.effects)
    }
    answers = [last[hook.id] for hook in policy + rest if hook.id in last]
    return remembered(added_up(answers, event, final), final, memory)


def applies(hook: Hook, event: Event, world: World, memory: Memory) -> bool:
    switches, policy = world.switches, hook.scope == Scope.POLICY
    return (
        hook.event == event.name
        and hook.enabled
        and not hook.untrusted
        and not switches.policy_disables_all
        and (policy or not (switches.disable_all_hooks or switches.allow_managed_hooks_only))
        and (not hook.kinds or event.kind in hook.kinds)
        and matches(hook, event)
        and hook.session_id in ("", event.session_id)
        and not (hook.once and hook.id in memory.used_up)
        and hook.role != "watches"
        and not (hook.is_async and not hook.force_sync and event.name != "SessionStart")
    )


def holds(hook: Hook, event: Event, world: World) -> bool:
    """A condition is asked of the input that the hook would see."""
    return hook.condition is None or world.condition(hook.condition, event)


def matches(hook: Hook, event: Event) -> bool:
    fits = compile_matcher(hook.matcher, hook.matcher_type, event.row)
    if fits is None or not event.row.matches:
        return True
    if event.row.matches == "tool_name":
        names = {event.tool, event.tool_name}
        names |= {RENAMED[name] for name in names if name in RENAMED}
    else:
        names = {str(event.payload.get(event.row.matches) or "")}
    return any(fits(name) for name in names if name)


def without_twins(hooks: list[Hook]) -> list[Hook]:
    kept: dict[Any, Hook] = {}
    for hook in hooks:
        manner = (hook.role, hook.failure_policy, hook.exit_code_mode)
        kept.setdefault((hook.handler.identity, hook.condition, hook.session_id, *manner), hook)
    return list(kept.values())


@dataclass
class Run:
    """The hooks of one event while they run."""

    world: World
    last: dict[str, Answer] = field(default_factory=dict)  # every hook's last answer
    rewrote: dict[str, Answer] = field(default_factory=dict)  # the answer with which a hook without a role rewrote
    is_over: bool = False  # a hook of the tier has denied, in sequential order

    def tier(self, hooks: list[Hook], event: Event) -> Event:
        """Run the hooks of one tier and return the event that they leave."""
        others = [hook for hook in hooks if not self.has_turn(hook)]
        start = event = self.turns(hooks, event)
        if self.is_over:
            return event
        for hook in others:
            if holds(hook, start, self.world):
                self.last[hook.id] = answered(hook, start, self.world)
        asked = [hook for hook in others if hook.id in self.last]
        if self.world.switches.order == "sequential":
            others = hooks
            asked = self.judge_again(hooks, event)
        for is_final in (False, True):
            wanting = [hook for hook in in_order(asked, event) if self.last[hook.id].rewrites]
            if not wanting:
                break
            event = self.chain(wanting, event)
            asked = self.judge_again(others, event, is_final=is_final)
        return event

    def has_turn(self, hook: Hook) -> bool:
        return hook.role == "rewrites" or self.world.switches.order == "sequential"

    def turns(self, hooks: list[Hook], event: Event, *, is_second: bool = False) -> Event:
        self.is_over = False
        for hook in in_order(hooks, event):
            is_used = is_second and hook.once and hook.id in self.last
            if not self.has_turn(hook) or is_used or not holds(hook, event, self.world):
                continue
            answer = self.last[hook.id] = answered(hook, event, self.world)
            event = self.apply(answer, event)
            if self.world.switches.order == "sequential" and is_denied(answer):
                self.is_over = True
                break
        return event

    def apply(self, answer: Answer, event: Event) -> Event:
        if answer.rewrites and answer.hook.role is None:
            self.rewrote[answer.hook.id] = answer
        for rewrite in answer.rewrites:
            event = with_value(event, rewrite.applied_to(event.rewritable))
        return event

    def chain(self, wanting: list[Hook], event: Event) -> Event:
        """Who wants to rewrite does so in turn; the first one's answer stands, the next ones see what was left."""
        start = event
        for place, hook in enumerate(wanting):
            if place > 0 and hook.once:
                self.last[hook.id] = answered(hook, event, self.world, earlier=self.world.answer(hook, start))
            elif place > 0 and holds(hook, event, self.world):
                self.last[hook.id] = answered(hook, event, self.world)
            elif place > 0:
                del self.last[hook.id]
                continue
            event = self.apply(self.last[hook.id], event)
        return event

    def judge_again(self, hooks: list[Hook], event: Event, *, is_final: bool = False) -> list[Hook]:
        """Ask those again whose last answer is not about what will run; return those that may still rewrite."""
        asked = []
        for hook in hooks:
            known = self.last.get(hook.id)
            is_used = hook.once and known is not None
            if not hook.can_judge or is_used or (known and same(known.left, event.rewritable)):
                continue
            if hook.id in self.rewrote:
                if holds(hook, event, self.world):
                    self.last[hook.id] = after_later_rewriters(self.rewrote[hook.id], event, self.world)
                continue
            self.last.pop(hook.id, None)
            if holds(hook, event, self.world):
                self.last[hook.id] = answered(hook, event, self.world, may_rewrite=not is_final)
                asked.append(hook)
        return asked

    def policy_last(self, policy: list[Hook], rest: list[Hook], event: Event) -> Event:
        """The policy has its turn again on what the others left; then every judge must agree."""
        before = event
        for hook in policy:
            self.rewrote.pop(hook.id, None)
        event = self.turns(policy, event, is_second=True)
        if self.is_over:
            return event
        asked = self.judge_again(policy, event)
        event = self.chain([hook for hook in asked if self.last[hook.id].rewrites], event)
        if not same(before.rewritable, event.rewritable):
            self.judge_again(policy + rest, event, is_final=True)
        return event


def in_order(hooks: list[Hook], event: Event) -> list[Hook]:
    return sorted(hooks, key=lambda hook: -hook.scope) if event.name == "PostToolUse" else hooks


def is_denied(answer: Answer) -> bool:
    return any(isinstance(effect, Deny) for effect in answer.effects)


def after_later_rewriters(first: Answer, event: Event, world: World) -> Answer:
    """A rewriter whose result was changed says what it has against the final input; it rewrites no more."""
    second = answered(first.hook, event, world)
    words = [effect for effect in first.effects if not isinstance(effect, Allow)]
    words += [effect for effect in second.effects if isinstance(effect, Ask | Defer | Deny | Stop)]
    words.sort(key=lambda effect: getattr(effect, "because", "") == ENGINE)  # what a failure adds comes last
    return Answer(first.hook, event.rewritable, [], words, first.failed or second.failed)


def answered(  # noqa: C901 - the naive model of the engine, in one piece
    hook: Hook, event: Event, world: World, may_rewrite: bool = True, earlier: Outcome | None = None
) -> Answer:
    """One run of one hook, or an earlier answer on this event, with everything dropped that it may not say here."""
    outcome = earlier or world.answer(hook, event)
    wanted_another_input = earlier is not None
    answer = Answer(hook, event.rewritable, [], [], failed=outcome.failure is not None)
    late: list[Effect] = []
    for effect in outcome.effects:
        if hook.role and type(effect).__name__.lower() not in EFFECTS_OF_ROLE[hook.role].split():
            answer.failed = True
            wanted_another_input |= isinstance(effect, Rewrite)
        elif not isinstance(effect, Rewrite):
            answer.effects += expressed(effect, event)
        elif same(effect.applied_to(answer.left), answer.left):
            pass
        elif "rewrite" not in event.row.can:
            wanted_another_input = True
        elif is_refused(effect.applied_to(answer.left), hook, event, world):
            answer.failed = wanted_another_input = True
        elif not may_rewrite:
            answer.failed = True
            late += expressed(Deny(ENGINE) if hook.scope == Scope.POLICY else Ask(ENGINE), event)
        else:
            answer.rewrites.append(effect)
            answer.left = effect.applied_to(answer.left)
    if wanted_another_input:
        answer.effects = [effect for effect in answer.effects if not isinstance(effect, Allow)]
    answer.effects += late
    if answer.failed and "deny" in event.row.can and event.name not in (*ENDS, "TaskCompleted", "TeammateIdle"):
        by_policy: dict[str, list[Effect]] = {"block": [Deny(ENGINE)], "ask": [Ask(ENGINE)], "allow": []}
        answer.effects += [turned for each in by_policy[hook.failure_policy] for turned in expressed(each, event)]
    return answer


def is_refused(value: Any, hook: Hook, event: Event, world: World) -> bool:
    if world.switches.rewrites_from == "policy" and hook.scope != Scope.POLICY:
        return True
    if not isinstance(value, TYPE_OF_REWRITABLE.get(event.row.rewrites, object)):
        return True
    return event.row.rewrites == "tool_input" and bool(world.validate and world.validate(event.tool, value))


def expressed(effect: Effect, event: Event) -> list[Effect]:
    """The effect as this event can have it: as it is, turned into something else, or not at all."""
    name, can = type(effect).__name__.lower(), event.row.can
    if isinstance(effect, Extra):
        return [effect] if effect.name in event.row.extras or effect.name in ALWAYS_IN_EXTRAS else []
    if name in can:
        return [effect]
    if isinstance(effect, Ask | Defer) and "deny" in can:
        return [Deny(effect.because)]
    if isinstance(effect, Deny) and "tell" in can:
        return [Tell(effect.because)]
    return []


def added_up(answers: list[Answer], event: Event, final: Event) -> Sum:
    effects = [(answer, effect) for answer in answers for effect in answer.effects]
    counted = [
        (VERDICT_OF[type(effect)], (answer.hook.id, effect.because, getattr(effect, "instead", "")))
        for answer, effect in effects
        if isinstance(effect, Ask | Defer | Deny) or (isinstance(effect, Allow) and stands(answer, final))
    ]
    verdict = max((each for each, _ in counted), default=Verdict.NO_OPINION)
    stops = [(answer.hook.id, effect.because) for answer, effect in effects if isinstance(effect, Stop)]
    env: dict[str, str] = {}
    extras: dict[str, Any] = {}
    for _, effect in effects:
        if isinstance(effect, Env):
            env = {**effect.variables, **env}
        if isinstance(effect, Extra):
            extras.setdefault(effect.name, effect.value)
    return Sum(
        value=final.rewritable,
        is_rewritten=not same(event.rewritable, final.rewritable),
        verdict=verdict,
        reasons=[reason for each, reason in counted if each == verdict],
        notes=[(answer.hook.id, effect.text) for answer, effect in effects if isinstance(effect, Note)],
        tells=[(answer.hook.id, effect.text) for answer, effect in effects if isinstance(effect, Tell)],
        stop=stops[0] if stops else None,
        failures=[answer.hook.id for answer in answers if answer.failed],
        env=env,
        extras=extras,
    )


def stands(answer: Answer, final: Event) -> bool:
    """An allow is for the value it was given on, or for the one that the same answer makes of it."""
    return same(answer.left, final.rewritable)


def remembered(total: Sum, event: Event, memory: Memory) -> Sum:
    """What the session adds to and takes from one event's sum: silent stops, at most so many blocks, held notes."""
    if event.name in ENDS:
        if total.verdict == Verdict.DENY and total.stop:
            total.verdict, total.reasons = Verdict.NO_OPINION, []
        if total.verdict == Verdict.DENY:
            turn = event.payload.get("prompt_id") or f"turn {memory.prompts}"
            in_turn, in_session = (event.agent_id, turn), (event.agent_id,)
            if memory.blocks[in_turn] >= 3 or memory.blocks[in_session] >= 10:
                total.verdict, total.reasons = Verdict.NO_OPINION, []
                total.tells.append(("", ENGINE))
            else:
                memory.blocks.update([in_turn, in_session])
        if total.verdict != Verdict.DENY:
            memory.held += total.notes
            total.notes = []
    if event.name in ("UserPromptSubmit", "SessionStart"):
        total.notes = memory.held + total.notes
        memory.held = []
    return total


def with_value(event: Event, value: Any) -> Event:
    return event if same(event.rewritable, value) else event.rewritten(value)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON, where true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
