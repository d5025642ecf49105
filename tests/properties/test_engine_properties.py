"""What holds for every set of hooks, whatever they answer."""

from collections import Counter
from copy import deepcopy
from dataclasses import replace
from itertools import islice, product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from snell.engine.decide import Run, decide
from snell.engine.registry import Registry
from snell.handlers.command import Command
from snell.model.catalogue import TURN_ENDS
from snell.model.decision import Decision, Outcome
from snell.model.effects import Allow, Ask, Defer, Deny, Note, Rewrite, Stop, Tell, Verdict
from snell.model.events import Event
from snell.model.hooks import Hook, Scope
from snell.store.in_memory import InMemoryStore
from tests.case_counts import IS_NIGHTLY
from tests.properties.driving import drive, drive_in_rounds
from tests.properties.random_cases import Case
from tests.properties.reference import same
from tests.properties.strategies import FAILED, cases, hooks_for, many, outcomes_with

NEW = "new"


@pytest.mark.proves("S1-99")
@many
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_in_which_hooks_finish_never_matters(case: Case, random: Random) -> None:
    def in_any_order(run: Run) -> list[Outcome]:
        finished: dict[Hook, Outcome] = {}
        for hook in random.sample(run.hooks, len(run.hooks)):
            finished[hook] = structs.replace(case.answer(hook, run.event), seconds=float(len(finished)))
        return [finished[hook] for hook in run.hooks]

    steps = decide(case.events[0], registry_of(case), InMemoryStore(), case.validate)
    shuffled = drive_in_rounds(steps, in_any_order)
    assert what_it_says(shuffled) == what_it_says(decided(case))


@pytest.mark.proves("S1-81")
@many
@given(st.data(), cases())
def test_one_more_hook_that_says_nothing_changes_nothing(data: st.DataObject, case: Case) -> None:
    more = with_one_more(data, case, st.just(Outcome()))
    assert what_it_says(decided(more)) == what_it_says(decided(case))


@many
@given(st.data(), cases())
def test_one_more_hook_that_does_not_rewrite_never_weakens_the_verdict(data: st.DataObject, case: Case) -> None:
    """But for Stop when the agent stops anyway: ending the turn beats keeping it going."""
    ends_the_turn = case.events[0].name in TURN_ENDS
    effects = (Allow, Ask, Defer, Deny, Note, Tell, *(() if ends_the_turn else (Stop,)))
    more = with_one_more(data, case, outcomes_with(*effects) | st.just(FAILED))
    assert decided(more).verdict >= decided(case).verdict


@many
@given(st.data(), cases())
def test_one_more_hook_that_fails_open_changes_only_failures(data: st.DataObject, case: Case) -> None:
    more = with_one_more(data, case, st.just(FAILED), on_failure="allow")
    with_it, without_it = decided(more), decided(case)
    has_run = any(hook.id == NEW for _, hook, _ in with_it.runs())
    assert [each.hook for each in with_it.failures].count(NEW) == has_run
    others = tuple(each for each in with_it.failures if each.hook != NEW)
    assert what_it_says(structs.replace(with_it, failures=others)) == what_it_says(without_it)


@many
@given(st.data(), cases())
def test_a_hook_that_does_not_apply_changes_nothing(data: st.DataObject, case: Case) -> None:
    reasons: tuple[dict[str, Any], ...] = (
        {"event": "Notification"},
        {"event": "PreToolUse", "matcher": "Read|Write"},
        {"event": "PreToolUse", "kinds": ("web",)},
        {"enabled": False},
        {"untrusted": "it is not approved"},
        {"session_id": "another"},
        {"condition": "no"},
        {"role": "watches"},
        {"is_async": True, "force_sync": False},
    )
    more = with_one_more(data, case, outcomes_with(Deny, Note, Stop), **data.draw(st.sampled_from(reasons)))
    assert what_it_says(decided(more)) == what_it_says(decided(case))


def test_one_name_may_stand_for_tools_of_several_kinds() -> None:
    registry = Registry([Hook(id=NEW, event="PreToolUse", handler=Command(NEW), kinds=("mcp",))])
    events = [Event(name="PreToolUse", payload={}, tool_name="run", kind=kind) for kind in ("", "mcp", "shell")]
    picked = [registry.pick(event, InMemoryStore()).hooks for event in events]
    assert [[hook.id for hook in hooks] for hooks in picked] == [[], [NEW], []]


@many
@given(cases())
def test_what_is_judged_last_is_what_runs(case: Case) -> None:
    """
    Every judging hook saw last what runs, or made it. A `once` hook has its one run; and what the policy makes of a
    tool's output, after all other hooks, is not shown to those again.
    """
    decision = decided(case)
    last = {hook: (each.event, outcome) for each, hook, outcome in decision.runs()}
    for hook, (judged, outcome) in last.items():
        is_before_policy = judged.name == "PostToolUse" and hook.scope is not Scope.POLICY
        left = judged.rewritable
        for effect in outcome.effects:
            left = effect.applied_to(left) if isinstance(effect, Rewrite) else left
        if hook.can_judge and not hook.once and not is_before_policy:
            assert same(left, decision.event.rewritable)


def test_three_undeclared_rewriters_of_three_words_never_run_what_one_of_them_has_not_judged() -> None:
    """Each hook leaves a word alone or makes it another one: 19,683 triples at night, every tenth of them by day."""
    words = "abc"
    rewriters = [dict(zip(words, says, strict=True)) for says in product(*([None, *set(words) - {w}] for w in words))]
    hooks = [Hook(id=str(number), event="PreToolUse", handler=Command(str(number))) for number in range(3)]
    event = Event(name="PreToolUse", payload={"tool_input": {"word": "c"}}, tool="Bash", tool_name="Bash", kind="shell")
    outcomes = {word: Outcome(effects=(Rewrite({"word": word}),)) for word in words} | {None: Outcome()}
    for maps in islice(product(rewriters, repeat=3), 0, None, 1 if IS_NIGHTLY else 10):
        answers = dict(zip(hooks, maps, strict=True))
        decision = drive(
            decide(event, Registry(hooks), InMemoryStore()),
            lambda hook, on, answers=answers: outcomes[answers[hook][on.tool_input["word"]]],
        )
        last = {hook: each.event.tool_input["word"] for each, hook, _ in decision.runs()}
        for hook, word in last.items():
            assert decision.event.tool_input["word"] in (word, answers[hook][word]), maps


@pytest.mark.proves("S1-99")
@many
@given(cases())
def test_knowing_who_rewrites_never_changes_a_decision(case: Case) -> None:
    marks = InMemoryStore()
    event = case.events[0]
    elsewhere = structs.replace(event, payload={**event.payload, "session_id": "another"})
    drive(decide(elsewhere, registry_of(case), marks, case.validate), case.answer)
    knowing = drive(decide(event, registry_of(case), marks, case.validate), case.answer)
    assert what_it_says(knowing) == what_it_says(decided(case))


@pytest.mark.proves("S1-110")
@many
@given(cases(), st.randoms(use_true_random=False))
def test_only_the_order_inside_a_scope_matters(case: Case, random: Random) -> None:
    queues = {scope: [hook for hook in case.hooks if hook.scope is scope] for scope in Scope}
    scopes = random.sample([hook.scope for hook in case.hooks], len(case.hooks))
    interleaved = replace(case, hooks=[queues[scope].pop(0) for scope in scopes])
    assert what_it_says(decided(interleaved)) == what_it_says(decided(case))


@pytest.mark.proves("S1-93")
@many
@given(cases(names=("PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop")))
def test_after_a_deny_of_the_policy_no_other_hook_is_asked(case: Case) -> None:
    guard = Hook(id=NEW, event=case.events[0].name, handler=Command(NEW), scope=Scope.POLICY, role="judges")
    case = replace(case, hooks=[*case.hooks, guard], answers={**case.answers, NEW: [Outcome(effects=(Deny("no"),))]})
    alone = replace(case, hooks=[hook for hook in case.hooks if hook.scope is Scope.POLICY])
    assert what_it_says(decided(case)) == what_it_says(decided(alone))


@pytest.mark.proves("S1-103", "S1-107", "S1-111")
@many
@given(cases(), st.sampled_from(("disable_all_hooks", "allow_managed_hooks_only")))
def test_a_switch_outside_the_policy_leaves_the_policy_hooks_alone(case: Case, switch: str) -> None:
    policy = replace(case, hooks=[hook for hook in case.hooks if hook.scope is Scope.POLICY])
    switched = replace(case, switches=structs.replace(case.switches, **{switch: True}))
    assert what_it_says(decided(switched)) == what_it_says(decided(policy))


@many
@given(cases())
def test_a_decision_says_only_what_its_event_can_express(case: Case) -> None:
    decision = decided(case)
    spoken = {
        decision.verdict.name.lower(): decision.verdict is not Verdict.NO_OPINION,
        "rewrite": decision.is_rewritten,
        "note": bool(decision.notes),
        "tell": bool(decision.tells),
        "stop": decision.stop is not None,
        "env": bool(decision.env),
    }
    assert {name for name, is_said in spoken.items() if is_said} <= case.events[0].row.can


@pytest.mark.proves("S1-94")
@many
@given(cases())
def test_the_decision_is_a_rewrite_exactly_when_the_value_differs(case: Case) -> None:
    decision = decided(case)
    assert decision.is_rewritten == (not same(decision.event.rewritable, case.events[0].rewritable))


@many
@given(cases())
def test_nothing_but_the_rewritable_field_ever_changes(case: Case) -> None:
    event = case.events[0]
    before = deepcopy(event.payload)
    after = decided(case).event
    untouched = {name: value for name, value in before.items() if name != event.row.rewrites}
    assert event.payload == before
    assert structs.replace(after, payload={}) == structs.replace(event, payload={})
    assert {name: value for name, value in after.payload.items() if name != event.row.rewrites} == untouched


@many
@given(cases(names=("PreToolUse", "PermissionRequest")), st.integers(0, 4))
def test_a_rewritten_input_that_will_run_has_been_validated(case: Case, refuses: int) -> None:
    """Unless a `once` hook's part of it was put on top of another rewrite: it is not asked twice."""
    plain = [structs.replace(hook, once=False) for hook in case.hooks]
    checked = replace(case, hooks=plain, refuses=refuses)
    decision = decided(checked)
    assert not decision.is_rewritten or checked.complaints(decision.event.tool, decision.event.rewritable) == []


@many
@given(cases())
def test_no_hook_runs_more_often_than_it_may(case: Case) -> None:
    """
    Informers and `once` hooks run once, rewriters too, but the policy's twice. A judge runs after each of two passes of
    rewriters and after the policy's last turn; the policy's own twice more, and a hook without a declared role once
    more for its turn.
    """
    # A `once` hook in the chain is not run again: its first answer is entered there.
    ran = (hook for each, hook, _ in decided(case).runs() if not (hook.once and each.name == "chain"))
    times = Counter(ran)
    for hook, runs in times.items():
        is_policy, freely = hook.scope is Scope.POLICY, not hook.once
        limit = 1 + (is_policy and freely and hook.role == "rewrites")
        if hook.can_judge and freely:
            limit = 4 + 2 * is_policy + (hook.role is None)
        assert runs <= limit


def decided(case: Case) -> Decision:
    return drive(decide(case.events[0], registry_of(case), InMemoryStore(), case.validate), case.answer)


def registry_of(case: Case) -> Registry:
    return Registry(case.hooks, switches=case.switches, condition=case.condition)


def what_it_says(decision: Decision) -> Decision:
    """Without the trace, which tells how the decision came about."""
    return structs.replace(decision, rounds=(), skipped=(), merge=())


def with_one_more(data: st.DataObject, case: Case, answers: st.SearchStrategy[Outcome], **declared: Any) -> Case:
    """The same case with one more hook, anywhere in the registry, of any scope and role."""
    hook = data.draw(hooks_for(case, NEW, handler=Command(NEW), **declared))
    place = data.draw(st.integers(0, len(case.hooks)))
    more = [*case.hooks[:place], hook, *case.hooks[place:]]
    return replace(case, hooks=more, answers={**case.answers, NEW: data.draw(st.tuples(answers, answers))})
