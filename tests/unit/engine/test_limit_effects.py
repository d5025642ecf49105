"""What a hook's role and the event allow, and what a failure means."""

from typing import Any

import pytest

from snell.model.catalogue import CATALOGUE, NEVER_BLOCKED_BY_FAILURE, row_of
from snell.model.decision import Failure, Outcome
from snell.model.effects import Allow, Ask, Defer, Deny, Effect, Env, Extra, Note, Rewrite, Stop, Tell, Verdict
from snell.model.hooks import Scope
from tests.helpers import call, decide_event, event, hook, policy, summary_of

FAILURES = {
    "launch": "non_blocking_error",
    "crash": "non_blocking_error",
    "output": "non_blocking_error",
    "effect": "non_blocking_error",
    "rewrite": "non_blocking_error",
    "untrusted": "non_blocking_error",
    "timeout": "cancelled",
    "cancelled": "cancelled",
}

EFFECTS: dict[str, Effect] = {
    "allow": Allow("a"),
    "ask": Ask("a"),
    "defer": Defer("a"),
    "deny": Deny("a"),
    "rewrite": Rewrite({"command": "make"}),
    "note": Note("n"),
    "tell": Tell("t"),
    "stop": Stop("s"),
    "env": Env({"A": "1"}),
    "extra": Extra("terminalSequence", "bell"),
}


@pytest.mark.proves("S1-87", "S1-88")
@pytest.mark.parametrize("name", [*CATALOGUE, "FromTomorrow"])
def test_what_a_failure_means_by_event_and_failure_policy(name: str) -> None:
    found = {
        declared: decide_event(
            event(name), hook("h", ValueError("broken"), on=name, on_failure=declared)
        ).verdict.name.lower()
        for declared in ("allow", "ask", "block")
    }
    row = row_of(name)
    blocks = "deny" if "deny" in row.can and not row.fails_open else "no_opinion"
    asks = "ask" if "ask" in row.can else blocks
    assert found == {"allow": "no_opinion", "ask": asks, "block": blocks}


@pytest.mark.parametrize(
    ("name", "asks", "blocks"),
    [("PreToolUse", "ASK", "DENY"), ("PostToolUse", "DENY", "DENY"), ("SessionEnd", "NO_OPINION", "NO_OPINION")],
)
def test_a_failure_asks_where_the_event_can_ask(name: str, asks: str, blocks: str) -> None:
    failing = {each: hook("h", ValueError("broken"), on=name, on_failure=each) for each in ("ask", "block")}
    found = {each: decide_event(event(name), failed).verdict.name for each, failed in failing.items()}
    assert found == {"ask": asks, "block": blocks}


def test_a_failure_never_keeps_an_agent_running() -> None:
    assert frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"}) == NEVER_BLOCKED_BY_FAILURE


@pytest.mark.proves("S1-87", "S1-88")
@pytest.mark.parametrize(("kind", "status"), FAILURES.items())
def test_every_kind_of_failure_is_in_the_decision_and_its_trace(kind: str, status: str) -> None:
    failed = Outcome(failure=Failure(kind, "it broke"))
    decision = decide_event(call(), hook("h", failed))
    assert summary_of(decision) == {"verdict": "no_opinion", "failures": ["h"]}
    assert [(outcome.status, outcome.failure) for _, _, outcome in decision.runs()] == [(status, failed.failure)]


@pytest.mark.proves("S1-54", "S1-62", "S1-68", "S1-69", "S1-74", "S1-75", "S1-76")
@pytest.mark.proves("S1-87", "S1-88", "S1-95")
@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize(
    ("scope", "role", "verdict"),
    [
        (Scope.POLICY, None, "DENY"),
        (Scope.POLICY, "judges", "DENY"),
        (Scope.POLICY, "informs", "NO_OPINION"),
        (Scope.POLICY, "rewrites", "NO_OPINION"),
        (Scope.PLUGIN, "judges", "NO_OPINION"),
        (Scope.SESSION, "judges", "NO_OPINION"),
        (Scope.SESSION, None, "NO_OPINION"),
        (Scope.SKILL, None, "NO_OPINION"),
    ],
)
def test_by_default_only_a_policy_hook_that_can_judge_fails_closed(
    kind: str, scope: Scope, role: str | None, verdict: str
) -> None:
    failing = hook("h", Outcome(failure=Failure(kind, "it broke")), scope=scope, role=role)
    assert decide_event(call(), failing).verdict.name == verdict


def test_the_reason_of_a_blocking_failure_says_what_to_do() -> None:
    decision = decide_event(
        call(), hook("h", Outcome(failure=Failure("launch", "no such program")), on_failure="block")
    )
    assert decision.reason == (
        "guard `h` could not run: no such program. "
        "Instead: repair the guard, or ask the user to; `snell why` shows what happened"
    )


def test_a_failure_never_looks_like_an_approval() -> None:
    failed = Outcome(failure=Failure("crash", "it broke"))
    assert decide_event(call(), hook("h", failed), hook("a", failed, on_failure="allow")).verdict.name == "NO_OPINION"


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        ("rewrites", {"rewrite", "note", "tell"}),
        ("judges", {"allow", "ask", "defer", "deny", "note", "tell", "stop"}),
        ("informs", {"note", "tell", "env", "extra"}),
        (None, set(EFFECTS)),
    ],
)
def test_an_effect_that_the_role_does_not_have_is_a_failure_and_does_not_count(
    role: str | None, allowed: set[str]
) -> None:
    failing = {name for name, effect in EFFECTS.items() if decide_event(call(), hook("h", effect, role=role)).failures}
    assert failing == EFFECTS.keys() - allowed


def test_the_failure_names_the_hook_its_role_and_the_effect() -> None:
    decision = decide_event(call(), hook("h", (Deny("no"), Note("n")), role="informs"))
    assert summary_of(decision) == {"verdict": "no_opinion", "notes": [("h", "n")], "failures": ["h"]}
    assert decision.failures[0].text == "`h` informs, so it cannot answer Deny; declare it with @judges"


def test_a_policy_judge_that_answers_with_a_wrong_effect_blocks() -> None:
    assert decide_event(call(), policy("p", Rewrite({"command": "x"}), role="judges")).verdict.name == "DENY"


@pytest.mark.parametrize("answer", [True, "deny", {"decision": "block"}, 7, Deny, object()])
def test_an_answer_that_is_no_effect_is_a_failure(answer: Any) -> None:
    decision = decide_event(call(), hook("h", lambda _event: answer))
    name = type(answer).__name__
    assert [each.text for each in decision.failures] == [f"`h` answered with `{name}`, which is not an effect"]


@pytest.mark.parametrize(
    ("name", "effect", "said", "remark"),
    [
        (
            "PostToolUse",
            Ask("why"),
            {"verdict": "deny", "reasons": [("h", "why")]},
            "PostToolUse has no `ask`, so `deny` is used instead",
        ),
        (
            "UserPromptSubmit",
            Defer("x"),
            {"verdict": "deny", "reasons": [("h", "x")]},
            "UserPromptSubmit has no `defer`, so `deny` is used instead",
        ),
        ("PostToolUse", Allow("ok"), {"verdict": "no_opinion"}, "allow has no effect on PostToolUse"),
        (
            "SessionStart",
            Deny("no"),
            {"verdict": "no_opinion", "tells": [("h", "no")]},
            "deny has no effect on SessionStart",
        ),
        ("SessionStart", Deny(), {"verdict": "no_opinion"}, "deny has no effect on SessionStart"),
        ("StopFailure", Deny("no"), {"verdict": "no_opinion"}, "deny has no effect on StopFailure"),
        ("Notification", Ask("?"), {"verdict": "no_opinion"}, "ask has no effect on Notification"),
        ("Notification", Note("n"), {"verdict": "no_opinion"}, "note has no effect on Notification"),
        ("Stop", Rewrite("x"), {"verdict": "no_opinion"}, "rewrite has no effect on Stop"),
        ("SessionStart", Stop("s"), {"verdict": "no_opinion"}, "stop has no effect on SessionStart"),
        ("PostToolUseFailure", Stop("s"), {"verdict": "no_opinion"}, "stop has no effect on PostToolUseFailure"),
        ("PreToolUse", Env({"A": "1"}), {"verdict": "no_opinion"}, "env has no effect on PreToolUse"),
        (
            "PreToolUse",
            Extra("sessionTitle", "t"),
            {"verdict": "no_opinion"},
            "`sessionTitle` has no effect on PreToolUse",
        ),
        (
            "FromTomorrow",
            Deny("no"),
            {"verdict": "no_opinion", "tells": [("h", "no")]},
            "deny has no effect on FromTomorrow",
        ),
    ],
)
def test_what_an_event_cannot_express_becomes_stricter_or_a_remark(
    name: str, effect: Effect, said: dict[str, Any], remark: str
) -> None:
    decision = decide_event(event(name), hook("h", effect, on=name))
    assert (summary_of(decision), [outcome.remarks for _, _, outcome in decision.runs()]) == (said, [(remark,)])


@pytest.mark.parametrize("name", CATALOGUE)
def test_extras_of_the_row_and_terminal_sequences_get_through(name: str) -> None:
    names = [*sorted(CATALOGUE[name].extras), "terminalSequence"]
    effects = tuple(Extra(each, f"value of {each}") for each in [*names, "unheardOf"])
    decision = decide_event(event(name), hook("h", effects, on=name))
    assert decision.extras == {each: f"value of {each}" for each in names}


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_effect_that_a_row_lists_reaches_the_decision(name: str) -> None:
    row = CATALOGUE[name]
    value: Any = {"new": 1} if row.rewrites in ("tool_input", "tool_response") else "new"
    given = {**EFFECTS, "rewrite": Rewrite(value)}
    reached = {
        effect: summary_of(decide_event(event(name), hook("h", given[effect], on=name))) != {"verdict": "no_opinion"}
        for effect in row.can
        if (name, effect) not in {("Stop", "note"), ("SubagentStop", "note")}  # these wait for the next prompt
    }
    assert all(reached.values()), reached


def test_effects_beside_a_failure_still_count() -> None:
    both = Outcome(effects=(Deny("no"), Note("n")), failure=Failure("crash", "then it broke"))
    decision = decide_event(call(), hook("h", both))
    assert summary_of(decision) == {
        "verdict": "deny",
        "reasons": [("h", "no")],
        "notes": [("h", "n")],
        "failures": ["h"],
    }


@pytest.mark.parametrize(
    "effect",
    [
        Note(5),
        Deny(None),
        Tell([1]),
        Stop(5),
        Env(None),
        Env({"A": 1}),
        Extra(3, "x"),
        Deny("a", 7),
        Rewrite({}, because=3),
    ],
)
def test_an_effect_with_a_wrong_field_is_a_failure_and_costs_no_other_hooks_deny(effect: Effect) -> None:
    decision = decide_event(event("PreToolUse", tool_input={}), hook("odd", effect), hook("guard", Deny("no")))
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "no")


def test_a_bottomless_rewrite_is_a_failure_and_costs_no_other_hooks_deny() -> None:
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"a": deep}
    rewriters = [hook(f"r{number}", Rewrite({"x": deep})) for number in range(2)]
    decision = decide_event(event("PreToolUse", tool_input={}), *rewriters, hook("guard", Deny("no")))
    assert (decision.reason, [each.hook for each in decision.failures]) == ("no", ["r0", "r1"])


def test_a_result_that_names_its_command_is_replaced_as_it_is() -> None:
    """Only in an input is `command` the line that runs; in the result of a tool it is a field like any other."""
    result = {"command": "echo token", "output": "token", "type": "Bash"}
    after = {**result, "command": "echo x", "output": "x"}
    ran = event("PostToolUse", tool_name="Bash", tool_input={"command": "sh x"}, tool_response=result)
    replaces = hook("h", Rewrite(after), on="PostToolUse", role="rewrites")
    assert decide_event(ran, replaces).event.tool_response == after
