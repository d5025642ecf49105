"""Effects are values, verdicts are ordered, and an outcome has one status."""

from typing import Any

import pytest

from snell.model.decision import QUIET, Change, Decision, Failure, Outcome, Reason
from snell.model.effects import (
    EFFECT_TYPES,
    VERDICT_OF,
    Allow,
    Ask,
    Defer,
    Deny,
    Effect,
    Env,
    Extra,
    Note,
    Remark,
    Rewrite,
    Stop,
    Tell,
    Verdict,
)
from tests.helpers import call

ONE_OF_EACH: list[Effect] = [
    Allow("a"),
    Ask("a"),
    Defer("a"),
    Deny("a"),
    Rewrite({"a": 1}),
    Note("n"),
    Tell("t"),
    Remark("r"),
    Stop("s"),
    Env({"A": "1"}),
    Extra("e", 1),
]


def test_verdicts_are_ordered_from_silent_to_deny() -> None:
    assert [verdict.name for verdict in sorted(Verdict)] == ["NO_OPINION", "ALLOW", "ASK", "DEFER", "DENY"]


@pytest.mark.proves("S1-84")
def test_an_effect_tells_whether_it_denies_and_whether_it_rewrites() -> None:
    assert [type(effect) for effect in ONE_OF_EACH] == list(EFFECT_TYPES)
    assert [effect for effect in ONE_OF_EACH if VERDICT_OF.get(type(effect)) is Verdict.DENY] == [Deny("a")]
    assert [effect for effect in ONE_OF_EACH if isinstance(effect, Rewrite)] == [Rewrite({"a": 1})]
    assert {Allow: Verdict.ALLOW, Ask: Verdict.ASK, Defer: Verdict.DEFER, Deny: Verdict.DENY} == VERDICT_OF


@pytest.mark.proves("S1-84")
def test_a_decision_tells_whether_it_denies_and_whether_it_rewrites() -> None:
    on = call("make")
    denied = Decision(event=on, verdict=Verdict.DENY)
    rewritten = Decision(event=on, changes=(Change("h", {"command": "ls"}, {"command": "make"}),))
    asked = [(each.verdict is Verdict.DENY, each.is_rewritten) for each in (Decision(event=on), denied, rewritten)]
    assert asked == [(False, False), (True, False), (False, True)]


@pytest.mark.proves("S1-83")
@pytest.mark.parametrize(
    ("rewrite", "before", "after"),
    [
        (Rewrite({"b": 2}), {"a": 1}, {"b": 2}),
        (Rewrite({}), {"a": 1}, {}),
        (Rewrite("new"), "old", "new"),
        (Rewrite([1]), {"a": 1}, [1]),
        (Rewrite(b=2), {"a": 1}, {"a": 1, "b": 2}),
        (Rewrite(a=2), {"a": {"deep": 1}}, {"a": 2}),
        (Rewrite(a=None), {"a": 1}, {"a": None}),
        (Rewrite(b=2), "text", {"b": 2}),
        (Rewrite(because="why", a=2), {"a": 1}, {"a": 2}),
    ],
)
def test_a_rewrite_replaces_the_whole_value_or_the_named_fields(rewrite: Rewrite, before: Any, after: Any) -> None:
    kept = str(before)
    assert rewrite.applied_to(before) == after
    assert str(before) == kept


@pytest.mark.parametrize("give", [lambda: Rewrite(), lambda: Rewrite({"a": 1}, b=2), lambda: Rewrite(because="x")])
def test_a_rewrite_needs_a_value_or_fields_and_not_both(give: Any) -> None:
    with pytest.raises(TypeError, match="give Rewrite either one complete value or the fields to change"):
        give()


def test_rewrites_are_compared_by_value() -> None:
    same, other = Rewrite({"a": [1]}, because="x"), Rewrite({"a": [1]}, because="y")
    assert (same == Rewrite({"a": [1]}, because="x"), same == other, same == "text") == (True, False, False)
    assert (len({same, Rewrite({"a": [1]}, because="x"), other}), Rewrite(a=1) == Rewrite({"a": 1})) == (2, False)


def test_a_rewrite_shows_what_it_does() -> None:
    assert [repr(Rewrite("x")), repr(Rewrite(a=1, b="c", because="why"))] == [
        "Rewrite('x', because='')",
        "Rewrite(a=1, b='c', because='why')",
    ]


@pytest.mark.proves("S1-85", "S1-86", "S1-87", "S1-88", "S1-89")
@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (QUIET, "success"),
        (Outcome(effects=(Allow(), Note("n"))), "success"),
        (Outcome(effects=(Ask(), Rewrite({"a": 1}), Stop())), "success"),
        (Outcome(effects=(Deny("no"),)), "blocking"),
        (Outcome(effects=(Note("n"), Deny())), "blocking"),
        (Outcome(failure=Failure("crash", "x")), "non_blocking_error"),
        (Outcome(failure=Failure("launch", "x")), "non_blocking_error"),
        (Outcome(failure=Failure("output", "x"), effects=(Note("n"),)), "non_blocking_error"),
        (Outcome(failure=Failure("timeout", "x")), "cancelled"),
        (Outcome(failure=Failure("cancelled", "x")), "cancelled"),
        (Outcome(failure=Failure("crash", "x"), effects=(Deny("no"),)), "blocking"),
        (Outcome(failure=Failure("timeout", "x"), effects=(Deny("no"),)), "blocking"),
    ],
)
def test_a_refusal_beats_an_error_in_the_status(outcome: Outcome, status: str) -> None:
    assert outcome.status == status


@pytest.mark.parametrize(
    ("reasons", "text"),
    [
        ((), ""),
        ((Reason("a", "no"),), "no"),
        ((Reason("a", "no", "wait"), Reason("b", "never")), "no. Instead: wait\nnever"),
        ((Reason("a", "", "wait"),), "wait"),
    ],
)
def test_the_reason_of_a_decision_says_what_to_do_instead(reasons: tuple[Reason, ...], text: str) -> None:
    assert Decision(event=call(), reasons=reasons).reason == text
