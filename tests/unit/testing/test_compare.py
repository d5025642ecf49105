"""A case passes when exactly what it names happens; otherwise it says what to mend."""

from typing import Any

import pytest

from snell import Allow, Ask, Deny, Env, Extra, Note, Rewrite, Runtime, Stop, Tell, informs, judges, rewrites
from snell.testing import Case, run_case
from snell.testing.case_event import case_event_from
from snell.testing.expectation import expectation_from

SHELL = {"on": "PreToolUse", "kind": "shell", "command": "pytest", "description": "tests"}


def outcome(answer: Any, expect: Any, *, declare=judges, event=SHELL) -> tuple[list[str], str]:
    """The differences and the hint, for a hook that gives this answer."""

    @declare(event["on"])
    def the_hook() -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    runtime = Runtime.embed(the_hook)
    try:
        case = Case(name="x", event=case_event_from(event), expect=expectation_from(expect))
        result = run_case(case, runtime)
        return list(result.differences), result.hint
    finally:
        runtime.close()


PASSES = ([], "")


def test_a_note_that_waits_for_the_next_prompt_is_explained():
    assert outcome(Note("hello"), {"note": "hello"}, declare=informs, event={"on": "Stop"}) == (
        ["expected a note with `hello`, there was none"],
        "notes wait for the next prompt",
    )


@pytest.mark.parametrize(
    ("answer", "expect"),
    [
        (None, "no_opinion"),
        (Allow(), "allow"),
        (Ask("really?"), "ask"),
        (Ask("really?"), {"ask": "real"}),
        (Deny("no", instead="make test"), "deny"),
        (Deny("no", instead="make test"), {"deny": ["no", "make test"]}),
        ((Deny("no"), Note("use make")), {"deny": "no", "note": "make"}),
        (Tell("hello"), {"tell": "hello"}),
        (Stop("enough"), {"stop": "enough"}),
        (ValueError("boom"), {"failure": "boom"}),
    ],
)
def test_a_case_passes_when_what_it_names_happens(answer, expect):
    assert outcome(answer, expect) == PASSES


@pytest.mark.parametrize(
    ("answer", "expect", "difference"),
    [
        (Deny("no"), "no_opinion", "expected no_opinion, got deny `no`"),
        (Deny("no"), "allow", "expected allow, got deny `no`"),
        (Allow(), {"deny": "no"}, "expected deny with `no`, got allow"),
        (Deny("no"), {"deny": "never"}, "the reason of the deny does not contain `never`: `no`"),
        (Deny(), {"deny": "never"}, "the reason of the deny does not contain `never`: it is empty"),
        ((Deny("no"), Note("psst")), {"deny": "no"}, "unexpected note: `psst`"),
        (Deny("no"), {"deny": "no", "note": "psst"}, "expected a note with `psst`, there was none"),
        (Note("hello"), {"note": ["hello", "world"]}, "the note does not contain `world`: `hello`"),
        (Stop(), {"stop": "enough"}, "the stop does not contain `enough`: it is empty"),
    ],
)
def test_what_differs_is_said(answer, expect, difference):
    assert outcome(answer, expect) == ([difference], "")


def test_a_failure_that_was_not_expected_fails_the_case_and_names_the_hook():
    (difference,), hint = outcome(ValueError("boom"), "no_opinion")
    assert difference.startswith("unexpected failure: `the_hook: ValueError: boom")
    assert hint == ""


def test_a_hook_that_says_nothing_is_named():
    assert outcome(None, "deny") == (["expected deny, got no_opinion"], "`the_hook` had no opinion")


def test_a_hook_that_does_not_apply_says_why():
    @judges("PreToolUse", kind="edit")
    def only_edits():
        return Deny("no")

    runtime = Runtime.embed(only_edits)
    result = run_case(Case(name="x", event=case_event_from(SHELL), expect=expectation_from("deny")), runtime)
    runtime.close()
    assert result.hint == "`only_edits` did not run: it is for edit calls, this is shell"


def test_an_event_that_no_hook_is_for_is_named():
    runtime = Runtime.embed()
    result = run_case(Case(name="x", event=case_event_from({"on": "Stop"}), expect=expectation_from("deny")), runtime)
    assert (list(result.differences), result.hint) == (["expected deny, got no_opinion"], "no hook reacts to Stop")


def test_an_effect_that_means_nothing_on_the_event_is_explained():
    event = {"on": "SessionEnd", "reason": "logout"}
    assert outcome(Note("hello"), {"note": "hello"}, declare=informs, event=event) == (
        ["expected a note with `hello`, there was none"],
        "`the_hook`: note has no effect on SessionEnd",
    )


def shell(command: str, description: str = "tests") -> str:
    return f'`{{"command":"{command}","description":"{description}"}}`'


@pytest.mark.parametrize(
    ("answer", "expect", "differences"),
    [
        (Rewrite(command="make test"), {"rewrite": {"command": "make test"}}, []),
        (None, {"rewrite": {"command": "x"}}, [f"expected a rewrite to {shell('x')}, there was none"]),
        (
            Rewrite(command="make"),
            {"rewrite": {"command": "x"}},
            [f"expected a rewrite to {shell('x')}, got {shell('make')}"],
        ),
        (
            Rewrite(command="make", description="build"),
            {"rewrite": {"command": "make"}},
            [f"expected a rewrite to {shell('make')}, got {shell('make', 'build')}"],
        ),
        (
            (Rewrite(command="make"), Note("psst")),
            {"note": "psst"},
            [f"`the_hook` rewrote it to {shell('make')}, which was not expected"],
        ),
    ],
)
def test_a_rewrite_changes_the_named_fields_and_no_others(answer, expect, differences):
    assert outcome(answer, expect, declare=rewrites)[0] == differences


def test_a_prompt_is_rewritten_as_text():
    event = {"on": "UserPromptSubmit", "prompt": "hello"}
    assert outcome(Rewrite("bye"), {"rewrite": "bye"}, declare=rewrites, event=event) == PASSES


def test_a_rewritten_path_is_compared_as_it_was_written():
    @rewrites("PreToolUse", kind="read")
    def sample(call):
        return Rewrite(file_path=f"{call.path}.example")

    runtime = Runtime.embed(sample)
    event = case_event_from({"on": "PreToolUse", "kind": "read", "path": ".env"})
    right = Case(name="x", event=event, expect=expectation_from({"rewrite": {"path": ".env.example"}}))
    wrong = Case(name="x", event=event, expect=expectation_from({"rewrite": {"path": "x"}}))
    results = [run_case(case, runtime).differences for case in (right, wrong)]
    runtime.close()
    assert results == [
        (),
        ('expected a rewrite to `{"file_path":"x"}`, got `{"file_path":".env.example"}`',),
    ]


def test_variables_and_further_fields_can_be_expected():
    event = {"on": "SessionStart", "source": "startup"}
    answer = (Env({"A": "1"}), Extra("sessionTitle", "x"))
    wanted = {"env": {"A": "1"}, "extra": {"sessionTitle": "x"}}
    assert outcome(answer, wanted, declare=informs, event=event) == PASSES
    assert outcome(answer, {"env": {"A": "2", "B": "1"}}, declare=informs, event=event)[0] == [
        "env `A` is `1`, expected `2`",
        "expected env `B`, it was not set",
        "extra `sessionTitle` was set to `x`, which was not expected",
    ]
