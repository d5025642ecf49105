"""One event in, one decision out: the passes, and what is judged in the end."""

from typing import Any

import pytest

from snell.engine.json_schema import validator
from snell.model.decision import Change, Decision, Failure, Outcome
from snell.model.effects import Allow, Deny, Env, Extra, Note, Rewrite, Stop, Tell
from snell.model.events import Event
from snell.model.hooks import Scope, Switches
from snell.store.in_memory import InMemoryStore
from tests.helpers import RecordingExecutor, call, decide_event, event, hook, policy, summary_of
from tests.unit.engine.rewriting import INPUT, adds, becomes, passes


@pytest.mark.proves("S1-92")
def test_an_event_without_hooks_is_decided_silent() -> None:
    on = call()
    assert decide_event(on) == Decision(event=on)


@pytest.mark.proves("S1-81", "S1-85")
def test_a_hook_without_an_effect_leaves_the_event_alone() -> None:
    on = call()
    decision = decide_event(on, hook("a"), hook("b", role="judges"), hook("c", ()), hook("r", role="rewrites"))
    assert summary_of(decision) == {"verdict": "no_opinion"}
    assert decision.event is on
    assert [outcome.status for _, _, outcome in decision.runs()] == ["success"] * 4


@pytest.mark.proves("S1-82", "S1-86")
def test_a_hook_refuses_with_deny_and_a_reason() -> None:
    decision = decide_event(call(), hook("guard", Deny("not on Fridays", instead="wait for Monday"), role="judges"))
    assert summary_of(decision) == {"verdict": "deny", "reasons": [("guard", "not on Fridays")]}
    assert decision.reason == "not on Fridays. Instead: wait for Monday"
    assert [outcome.status for _, _, outcome in decision.runs()] == ["blocking"]


@pytest.mark.proves("S1-93")
def test_declared_rewriters_run_in_turn_and_judges_together_on_what_they_left() -> None:
    executor = RecordingExecutor()
    decision = decide_event(
        call(),
        hook("judge", role="judges"),
        hook("first", adds("1"), role="rewrites"),
        hook("informer", role="informs"),
        hook("second", adds("2"), role="rewrites"),
        executor=executor,
    )
    assert executor.rounds == [
        (["first"], INPUT),
        (["second"], {"command": "ls 1"}),
        (["judge", "informer"], {"command": "ls 1 2"}),
    ]
    assert decision.changes == (
        Change("first", INPUT, {"command": "ls 1"}),
        Change("second", {"command": "ls 1"}, {"command": "ls 1 2"}),
    )
    assert decision.event.tool_input == {"command": "ls 1 2"}


@pytest.mark.proves("S1-98")
def test_judges_informers_and_undeclared_hooks_run_in_one_round() -> None:
    executor = RecordingExecutor()
    hooks = [hook("a", role="judges"), hook("b", role="informs"), hook("c"), hook("d", Deny("no"), role="judges")]
    decide_event(call(), *hooks, executor=executor)
    assert executor.rounds == [(["a", "b", "c", "d"], INPUT)]


def test_an_undeclared_rewriter_makes_every_other_judge_look_again() -> None:
    executor = RecordingExecutor()
    hooks = [
        hook("a"),
        hook("r", becomes("make")),
        hook("j", role="judges"),
        hook("i", Note("n"), role="informs"),
        hook("once", once=True),
    ]
    decision = decide_event(call(), *hooks, executor=executor)
    assert passes(decision) == [
        ("judge", ["a", "r", "j", "i", "once"], INPUT),
        ("again", ["a", "j"], {"command": "make"}),
    ]
    assert summary_of(decision) == {
        "verdict": "no_opinion",
        "notes": [("i", "n")],
        "changes": [("r", {"command": "make"})],
    }


@pytest.mark.proves("S1-93")
def test_undeclared_rewriters_act_in_execution_order_each_on_what_the_one_before_left() -> None:
    decision = decide_event(
        call(), hook("a", adds("a")), hook("j", role="judges"), hook("b", adds("b")), hook("c", adds("c"))
    )
    assert passes(decision) == [
        ("judge", ["a", "j", "b", "c"], INPUT),
        ("chain", ["b"], {"command": "ls a"}),
        ("chain", ["c"], {"command": "ls a b"}),
        ("again", ["a", "j", "b"], {"command": "ls a b c"}),
    ]
    assert decision.event.tool_input == {"command": "ls a b c"}
    assert (
        summary_of(decision)["verdict"] == "no_opinion"
    )  # who has had its turn rewrites no more, and has nothing against it


def test_a_rewriter_may_refuse_what_a_later_one_made_of_its_result() -> None:
    def first(on: Event) -> Any:
        return {"c": [becomes("b"), Note("b is meant")], "a": Deny("never a")}.get(on.tool_input["command"])

    hooks = [hook("first", first), hook("second", lambda on: becomes("a"))]
    decision = decide_event(call("c"), *hooks)
    assert summary_of(decision) == {
        "verdict": "deny",
        "reasons": [("first", "never a")],
        "notes": [("first", "b is meant")],
        "changes": [("first", {"command": "b"}), ("second", {"command": "a"})],
    }


def test_a_rewriter_with_nothing_to_change_in_its_turn_judges_what_a_later_one_left() -> None:
    """Before, `b` had seen `ls b` last and had no opinion on it, while `ls a` ran."""

    def says(answers: dict[str, Any]) -> Any:
        return lambda on: answers.get(on.tool_input["command"])

    hooks = [
        hook("a", says({"c": becomes("b")})),
        hook("b", says({"c": becomes("a"), "a": Deny("not a")})),
        hook("c", says({"c": becomes("a"), "b": becomes("a")})),
    ]
    decision = decide_event(call("c"), *hooks)
    assert passes(decision) == [
        ("judge", ["a", "b", "c"], {"command": "c"}),
        ("chain", ["b"], {"command": "b"}),
        ("chain", ["c"], {"command": "b"}),
        ("again", ["a", "b"], {"command": "a"}),
    ]
    assert summary_of(decision)["verdict"] == "deny"


def test_a_known_rewriter_saves_the_judges_a_look_and_changes_nothing() -> None:
    marks = InMemoryStore()

    def rewriter(on: Event) -> Rewrite | None:
        return becomes("make") if on.tool_input["command"] == "ls" else None

    def judge(on: Event) -> Deny | None:
        return Deny("no make") if on.tool_input["command"] == "make" else None

    hooks = [hook("r", rewriter), hook("j", judge, role="judges")]
    first, second = decide_event(call(), *hooks, marks=marks), decide_event(call(), *hooks, marks=marks)
    assert (
        summary_of(first)
        == summary_of(second)
        == {
            "verdict": "deny",
            "reasons": [("j", "no make")],
            "changes": [("r", {"command": "make"})],
        }
    )
    assert [name for name, _, _ in passes(first)] == ["judge", "again"]
    assert passes(second) == [("judge", ["r"], INPUT), ("judge", ["j"], {"command": "make"})]


def test_what_was_allowed_before_a_rewrite_is_not_allowed_after_it() -> None:
    def only_ls(on: Event) -> Allow | None:
        return Allow("ls is fine") if on.tool_input["command"] == "ls" else None

    decision = decide_event(call(), hook("a", only_ls), hook("r", becomes("rm -rf x")))
    assert summary_of(decision) == {"verdict": "no_opinion", "changes": [("r", {"command": "rm -rf x"})]}


def test_an_allow_of_a_once_hook_on_a_replaced_input_does_not_count() -> None:
    decision = decide_event(call(), hook("a", Allow("fine"), once=True), hook("r", becomes("rm")))
    assert summary_of(decision) == {"verdict": "no_opinion", "changes": [("r", {"command": "rm"})]}
    assert decision.merge == ("allow from `a` is ignored: the input was rewritten afterwards",)


def test_an_allow_that_comes_with_its_own_rewrite_counts() -> None:
    decision = decide_event(call(), hook("r", (becomes("make"), Allow("mine"))))
    assert summary_of(decision) == {
        "verdict": "allow",
        "reasons": [("r", "mine")],
        "changes": [("r", {"command": "make"})],
    }


def test_an_allow_with_a_rewrite_that_another_one_replaced_does_not_count() -> None:
    decision = decide_event(call(), hook("r", (becomes("make"), Allow("mine"))), hook("s", adds("now")))
    assert (decision.verdict.name, decision.event.tool_input) == ("NO_OPINION", {"command": "make now"})


def test_a_rewrite_alone_never_allows() -> None:
    assert decide_event(call(), hook("r", becomes("make"), role="rewrites")).verdict.name == "NO_OPINION"


@pytest.mark.proves("S1-83")
def test_a_whole_value_replaces_the_input_and_merges_nothing() -> None:
    on = call(tool_input={"command": "ls", "timeout": 5})
    decision = decide_event(on, hook("r", Rewrite({"command": "make"}), role="rewrites"))
    assert decision.event.tool_input == {"command": "make"}
    assert on.tool_input == {"command": "ls", "timeout": 5}


def test_named_fields_change_only_themselves() -> None:
    on = call(tool_input={"command": "ls", "timeout": 5})
    assert decide_event(on, hook("r", Rewrite(command="make"), role="rewrites")).event.tool_input == {
        "command": "make",
        "timeout": 5,
    }


@pytest.mark.proves("S1-84", "S1-94")
@pytest.mark.parametrize(
    ("before", "after", "differs"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, False),
        ({"a": 1}, {"a": True}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, True),
        ({"a": 1}, {}, True),
        ({}, {"a": None}, True),
    ],
)
@pytest.mark.parametrize("role", ["rewrites", None])
def test_a_rewrite_counts_exactly_when_the_value_differs(
    before: Any, after: Any, differs: bool, role: str | None
) -> None:
    on = call(tool_input=before)
    decision = decide_event(on, hook("r", Rewrite(after), role=role))
    assert (decision.is_rewritten, decision.event is not on) == (differs, differs)


@pytest.mark.proves("S1-84", "S1-94")
def test_rewrites_that_cancel_out_are_in_the_trace_but_do_not_count() -> None:
    back_and_forth = [hook("a", becomes("make"), role="rewrites"), hook("b", becomes("ls"), role="rewrites")]
    decision = decide_event(call(), *back_and_forth)
    assert (decision.is_rewritten, decision.event.tool_input) == (False, INPUT)
    assert summary_of(decision)["changes"] == [("a", {"command": "make"}), ("b", {"command": "ls"})]


@pytest.mark.proves("S1-133")
def test_with_rewrites_from_policy_no_other_hook_may_rewrite() -> None:
    hooks = [
        policy("p", becomes("make"), role="rewrites"),
        hook("plugin", adds("1"), role="rewrites", scope=Scope.PLUGIN),
        hook("user", adds("2")),
    ]
    decision = decide_event(call(), *hooks, switches=Switches(rewrites_from="policy"))
    assert summary_of(decision) == {
        "verdict": "no_opinion",
        "changes": [("p", {"command": "make"})],
        "failures": ["plugin", "user"],
    }
    assert decision.failures[0].text == '`plugin` may not rewrite: rewrites_from = "policy"'


def test_a_rewrite_that_breaks_the_tools_schema_is_a_failure_and_does_not_happen() -> None:
    hooks = [hook("r", Rewrite({"cmd": "ls"}), role="rewrites"), hook("s", Rewrite({"command": 7}))]
    decision = decide_event(call(), *hooks, validate=validator())
    assert (decision.event.tool_input, decision.changes) == (INPUT, ())
    assert [each.text for each in decision.failures] == [
        "`r` rewrote the input of Bash wrongly: `command` is missing",
        "`s` rewrote the input of Bash wrongly: `command` is integer, not string",
    ]


@pytest.mark.parametrize(
    ("on", "value", "complaint"),
    [
        (call(), "rm", "`r` rewrote tool_input to str"),
        (call(), ["ls"], "`r` rewrote tool_input to list"),
        (event("UserPromptSubmit", prompt="hi"), {"prompt": "x"}, "`r` rewrote prompt to dict"),
        (event("MessageDisplay", delta="hi"), 7, "`r` rewrote delta to int"),
    ],
)
def test_a_rewrite_to_another_type_is_a_failure(on: Event, value: Any, complaint: str) -> None:
    decision = decide_event(on, hook("r", Rewrite(value), on=on.name))
    assert (decision.changes, [each.text for each in decision.failures]) == ((), [complaint])


@pytest.mark.proves("S1-96")
def test_a_once_hook_runs_no_more_in_its_session_after_its_first_success() -> None:
    marks, executor = InMemoryStore(), RecordingExecutor()
    once = hook("o", once=True)
    for session in ("s1", "s1", "s2", "s1"):
        decide_event(call(session_id=session), once, marks=marks, executor=executor)
    assert len(executor.rounds) == 2


@pytest.mark.proves("S1-96")
@pytest.mark.parametrize(
    "answer",
    [
        Deny("no"),
        ValueError("broken"),
        Outcome(failure=Failure("timeout", "t")),
        Outcome(failure=Failure("launch", "l")),
    ],
    ids=["refusal", "crash", "timeout", "launch"],
)
def test_a_refusal_or_a_failure_does_not_use_a_once_hook_up(answer: Any) -> None:
    marks, executor = InMemoryStore(), RecordingExecutor()
    for _ in range(2):
        decide_event(call(), hook("o", answer, once=True), marks=marks, executor=executor)
    assert len(executor.rounds) == 2


@pytest.mark.proves("S1-38")
def test_a_hook_that_does_not_say_once_runs_every_time() -> None:
    marks, executor = InMemoryStore(), RecordingExecutor()
    for _ in range(3):
        decide_event(call(), hook("o"), marks=marks, executor=executor)
    assert len(executor.rounds) == 3


def test_a_once_rewriter_acts_once_without_being_asked_again() -> None:
    executor = RecordingExecutor()
    decision = decide_event(call(), hook("a", adds("a")), hook("b", becomes("b"), once=True), executor=executor)
    assert executor.rounds == [(["a", "b"], INPUT), (["a"], {"command": "b"})]
    assert decision.event.tool_input == {"command": "b"}


@pytest.mark.proves("S1-158")
def test_the_stop_effect_ends_the_turn_and_refuses_nothing() -> None:
    decision = decide_event(call(), hook("s", Stop("enough")), hook("a", Allow("ok")))
    assert summary_of(decision) == {"verdict": "allow", "reasons": [("a", "ok")], "stop": ("s", "enough")}


@pytest.mark.proves("S1-158")
@pytest.mark.parametrize("name", ["Stop", "SubagentStop"])
def test_the_stop_effect_beats_a_block_of_stop(name: str) -> None:
    decision = decide_event(
        event(name), hook("go on", Deny("not done"), on=name), hook("halt", Stop("enough"), on=name)
    )
    assert summary_of(decision) == {"verdict": "no_opinion", "stop": ("halt", "enough")}
    assert decision.merge == ("deny from `go on`", "`halt` stops the turn, which beats keeping it going")


def test_a_watcher_is_not_part_of_the_decision() -> None:
    executor = RecordingExecutor()
    assert summary_of(decide_event(call(), hook("w", Deny("no"), role="watches"), executor=executor)) == {
        "verdict": "no_opinion"
    }
    assert executor.rounds == []


@pytest.mark.proves("S1-90")
def test_one_hook_may_ask_for_several_things_at_once() -> None:
    on = event("SessionStart", source="startup")
    effects = (Note("n"), Tell("t"), Env({"A": "1"}), Extra("sessionTitle", "T"))
    assert summary_of(decide_event(on, hook("a", effects, on="SessionStart", role="informs"))) == {
        "verdict": "no_opinion",
        "notes": [("a", "n")],
        "tells": [("a", "t")],
        "env": {"A": "1"},
        "extras": {"sessionTitle": "T"},
    }
