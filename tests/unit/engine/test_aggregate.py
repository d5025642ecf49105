"""Outcomes to decision: the strongest verdict wins, texts add up in execution order, and within a budget."""

from itertools import combinations, permutations
from typing import Any

import pytest

from snell.engine.aggregate import CUT, LIMIT, cut_to_budget
from snell.model.decision import Reason
from snell.model.effects import Allow, Ask, Defer, Deny, Env, Extra, Note, Rewrite, Stop, Tell
from snell.model.hooks import Scope
from tests.helpers import call, decide_event, event, hook, policy, summary_of

ORDER = [None, Allow("because"), Ask("because"), Defer("because"), Deny("because")]
NAMES = ["no_opinion", "allow", "ask", "defer", "deny"]


@pytest.mark.parametrize(("low", "high"), list(combinations(range(5), 2)))
def test_the_stronger_of_two_verdicts_wins_whatever_the_order(low: int, high: int) -> None:
    expected = {"verdict": NAMES[high], "reasons": [("high", "because")]}
    pair = hook("low", ORDER[low]), hook("high", ORDER[high])
    assert [summary_of(decide_event(call(), *hooks)) for hooks in permutations(pair)] == [expected, expected]


@pytest.mark.parametrize("verdict", [Allow, Ask, Defer, Deny])
def test_every_hook_behind_the_winning_verdict_is_named_in_execution_order(verdict: Any) -> None:
    hooks = [hook("a", verdict("one")), hook("b", Note("n")), hook("c", verdict("two")), hook("d", verdict())]
    decision = decide_event(call(), *hooks)
    assert summary_of(decision)["reasons"] == [("a", "one"), ("c", "two"), ("d", "")]


def test_the_merge_tells_the_steps() -> None:
    decision = decide_event(call(), hook("a", Allow("x")), hook("b", Deny("y")), hook("c", Ask("z")))
    assert decision.merge == ("allow from `a`", "deny from `b`", "ask from `c`", "deny wins")


def test_one_verdict_alone_needs_no_winner() -> None:
    assert decide_event(call(), hook("a", Deny("x")), hook("b", Deny("y"))).merge == ("deny from `a`", "deny from `b`")


def test_two_verdicts_of_one_hook_count_both() -> None:
    assert summary_of(decide_event(call(), hook("a", (Allow("yes"), Deny("no"))))) == {
        "verdict": "deny",
        "reasons": [("a", "no")],
    }


def test_a_failed_guard_and_a_refusal_are_both_named() -> None:
    decision = decide_event(call(), hook("a", ValueError("x"), on_failure="block"), hook("b", Deny("no")))
    assert summary_of(decision) == {
        "verdict": "deny",
        "reasons": [("a", "guard `a` could not run: ValueError: x"), ("b", "no")],
        "failures": ["a"],
    }


def test_texts_add_up_in_execution_order_and_empty_ones_are_left_out() -> None:
    hooks = [
        hook("skill", (Note("4"), Tell("d")), scope=Scope.SKILL),
        hook("user", (Note("2"), Note("3"), Tell("c"), Note(""))),
        policy("policy", (Note("1"), Tell("a"), Tell("b"))),
    ]
    decision = decide_event(call(), *hooks)
    assert (decision.note, decision.tell) == ("1\n2\n3\n4", "a\nb\nc\nd")


def test_the_first_hook_in_order_keeps_its_environment_and_extras() -> None:
    on = event("SessionStart")
    hooks = [
        hook("user", (Env({"A": "user", "B": "user"}), Extra("sessionTitle", "user's")), on="SessionStart"),
        policy("policy", (Env({"A": "policy"}), Extra("sessionTitle", "policy's")), on="SessionStart"),
    ]
    assert summary_of(decide_event(on, *hooks)) == {
        "verdict": "no_opinion",
        "env": {"A": "policy", "B": "user"},
        "extras": {"sessionTitle": "policy's"},
    }


def test_the_first_stop_in_order_gives_the_reason() -> None:
    assert summary_of(decide_event(call(), hook("a", Stop("one")), policy("b", Stop("two"))))["stop"] == ("b", "two")


def test_a_hook_that_answered_twice_counts_with_its_last_answer() -> None:
    def judge(on: Any) -> Any:
        return Deny("no ls") if on.tool_input["command"] == "ls" else Note("make is fine")

    rewriter = hook("r", lambda on: Rewrite({"command": "make"}) if on.tool_input["command"] == "ls" else None)
    assert summary_of(decide_event(call(), rewriter, hook("j", judge))) == {
        "verdict": "no_opinion",
        "notes": [("j", "make is fine")],
        "changes": [("r", {"command": "make"})],
    }


def test_texts_within_the_budget_stay_whole() -> None:
    reasons, notes = [Reason("a", "x" * 4000)], [Reason("b", "y" * (LIMIT - 4000))]
    assert cut_to_budget(reasons, notes) == (tuple(reasons), tuple(notes))


def test_reasons_go_first_and_the_text_where_the_budget_ends_is_cut_with_a_hint() -> None:
    reasons, notes = [Reason("a", "x" * 8000)], [Reason("b", "y" * 1000), Reason("c", "never seen")]
    kept_reasons, kept_notes = cut_to_budget(reasons, notes)
    assert kept_reasons == (reasons[0],)
    assert kept_notes == (Reason("b", "y" * (LIMIT - 8000 - len(CUT)) + CUT),)


def test_what_is_left_of_the_budget_may_be_too_little_for_even_a_hint() -> None:
    assert cut_to_budget([Reason("a", "x" * (LIMIT - 5))], [Reason("b", "longer than five")])[1] == ()


@pytest.mark.parametrize("text", ["é" * 8000, "😀" * 4000], ids=["two bytes", "four bytes"])
def test_the_budget_counts_bytes_and_cuts_between_characters(text: str) -> None:
    ((kept,), _) = cut_to_budget([Reason("a", text)], [])
    beginning = kept.text.removesuffix(CUT)
    assert text.startswith(beginning)
    assert LIMIT - 8 < len(kept.text.encode("utf-8")) <= LIMIT


def test_half_a_surrogate_pair_does_not_upset_the_budget() -> None:
    short, long = Reason("a", "\ud800"), Reason("b", "x\ud800" * 4000)
    kept, _ = cut_to_budget([short, long], [])
    assert (kept[0], kept[1].text.startswith("x"), kept[1].text.endswith(CUT)) == (short, True, True)


def test_the_whole_text_of_a_decision_keeps_to_the_budget() -> None:
    hooks = [hook(f"h{n}", (Deny("r" * 500), Note("n" * 500), Tell("t" * 500))) for n in range(20)]
    decision = decide_event(call(), *hooks)
    assert (len(decision.reason) <= LIMIT + 20, len(decision.tell) <= LIMIT + 20) == (True, True)
    assert sum(len(each.text) for each in (*decision.reasons, *decision.notes)) <= LIMIT
