"""A decision in words, for a person who asks why."""

from typing import Any

import pytest
from msgspec.structs import replace

from snell.engine.explain import explained, headline, shortened
from snell.engine.record import effect_in_words, record_of
from snell.model.decision import Decision, Failure, Outcome, Skipped
from snell.model.effects import Allow, Ask, Deny, Effect, Env, Extra, Note, Rewrite, Stop, Tell
from snell.model.hooks import Source
from tests.helpers import call, decided, event, hook, policy


def rich_decision() -> Decision:
    """A bit of everything."""

    def adds_make(on: Any) -> Rewrite | None:
        return Rewrite({"command": "make test"}, because="the project has a Makefile") if "pytest" in str(on) else None

    hooks = [
        policy("policy/secrets", role="judges", source=Source("policy", "/etc/snell/policy.toml", 4)),
        hook("toolchain/redirect", adds_make, role="rewrites"),
        hook("team/slow", Outcome(failure=Failure("timeout", "did not finish within 5 s and was ended"), seconds=5.0)),
        hook("team/ask", Outcome(effects=(Ask("tests take an hour"),), seconds=0.0123)),
        hook("mine/allow", (Allow("tests are fine"), Tell("running the tests")), role="judges"),
        hook("mine/note", Note("mind the\nflaky one"), role="informs"),
        hook("mine/chatty", Outcome(remarks=("printed text, which goes nowhere on PreToolUse",))),
    ]
    decision = decided(call("pytest -q", cwd="/project"), *hooks)
    return replace(decision, id="19a-1")


TEXT = """\
PreToolUse Bash from generic   decision 19a-1
  what will happen: make test
  answer: ask rewritten: tests take an hour
  toolchain/redirect rewrote pytest -q
    to make test because the project has a Makefile
  note for the model, from mine/note: mind the flaky one
  shown to you, from mine/allow: running the tests
  team/slow could not do its job: did not finish within 5 s and was ended
  judges and informers, together
    policy/secrets                   policy/judges          0.0 ms  no opinion
  rewriters, in turn
    toolchain/redirect               session/rewrites        0.0 ms  rewrite: the project has a Makefile
  judges and informers, together
    team/slow                        session/undeclared   5000.0 ms  failed (timeout), so it does not count
    team/ask                         session/undeclared     12.3 ms  ask: tests take an hour
    mine/allow                       session/judges          0.0 ms  allow: tests are fine; tell: running the tests
    mine/note                        session/informs         0.0 ms  note: mind the flaky one
    mine/chatty                      session/undeclared      0.0 ms  no opinion
      printed text, which goes nowhere on PreToolUse
  again, on the rewritten input
    policy/secrets                   policy/judges          0.0 ms  no opinion
  not run
    mine/off                         it is not enabled
  how it adds up
    ask from `team/ask`
    allow from `mine/allow`
    ask wins"""


def test_a_rich_decision_in_words() -> None:
    record = record_of(rich_decision(), [Skipped("mine/off", "it is not enabled")])
    assert explained(record) == TEXT


def test_the_same_decision_as_data() -> None:
    record = record_of(rich_decision())
    (first, *_), *_ = [each["runs"] for each in record["rounds"]]
    assert {key: value for key, value in record.items() if key != "rounds"} == {
        "id": "19a-1",
        "client": "generic",
        "event": "PreToolUse",
        "session_id": "s1",
        "cwd": "/project",
        "tool": "Bash",
        "kind": "shell",
        "value": {"command": "make test"},
        "verdict": "ask",
        "reason": "tests take an hour",
        "reasons": [{"hook": "team/ask", "text": "tests take an hour"}],
        "notes": [{"hook": "mine/note", "text": "mind the\nflaky one"}],
        "tells": [{"hook": "mine/allow", "text": "running the tests"}],
        "changes": [
            {
                "hook": "toolchain/redirect",
                "before": {"command": "pytest -q"},
                "after": {"command": "make test"},
                "because": "the project has a Makefile",
            }
        ],
        "failures": [{"hook": "team/slow", "text": "did not finish within 5 s and was ended"}],
        "merge": ["ask from `team/ask`", "allow from `mine/allow`", "ask wins"],
    }
    assert first == {
        "hook": "policy/secrets",
        "role": "judges",
        "scope": "policy",
        "handler": "python",
        "source": "/etc/snell/policy.toml:4",
        "status": "success",
        "ms": 0.0,
    }


def test_a_decision_about_nothing_is_two_lines() -> None:
    assert explained(record_of(decided(event("Stop")))) == "Stop from generic   decision -\n  answer: no opinion"


@pytest.mark.parametrize(
    ("decision", "line"),
    [
        (decided(call()), "no opinion"),
        (decided(call(), hook("a", Allow())), "allow"),
        (decided(call(), hook("a", Deny("no", instead="wait"))), "deny: no. Instead: wait"),
        (decided(call(), hook("a", Deny("one")), hook("b", Deny("two"))), "deny: one / two"),
        (decided(call(), hook("a", Rewrite({"command": "x"}), role="rewrites")), "no opinion, rewritten"),
        (decided(call(), hook("a", (Allow("ok"), Rewrite({"command": "x"})))), "allow rewritten: ok"),
    ],
)
def test_the_headline_is_the_verdict_and_its_reason(decision: Decision, line: str) -> None:
    assert headline(record_of(decision)) == line


@pytest.mark.parametrize(
    ("on_failure", "says"),
    [("allow", "so it does not count"), ("ask", "so you are asked"), ("block", "so it blocks")],
)
def test_a_failure_says_what_it_means(on_failure: str, says: str) -> None:
    decision = decided(call(), hook("a", ValueError("broken"), on_failure=on_failure))
    assert f"failed (crash), {says}" in explained(record_of(decision))


def test_a_refusal_beside_a_failure_is_told_too() -> None:
    both = Outcome(effects=(Deny("no"),), failure=Failure("crash", "exit code 1"))
    assert "failed (crash), so it does not count; deny: no" in explained(record_of(decided(call(), hook("a", both))))


def test_a_stop_and_what_was_skipped_are_told() -> None:
    text = explained(record_of(decided(call(), policy("p", (Deny("no"), Stop("enough"))), hook("j"))))
    assert "  p ends the turn: enough" in text
    assert "  not run\n    j                                a policy hook had already denied" in text


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Deny("no", instead="wait"), "deny: no"),
        (Deny(), "deny"),
        (Note("n"), "note: n"),
        (Rewrite({"a": 1}), "rewrite"),
        (Rewrite(a=1, because="b"), "rewrite: b"),
        (Extra("sessionTitle", "T"), "extra: sessionTitle"),
        (Env({"A": "1"}), "env: {'A': '1'}"),
    ],
)
def test_an_effect_in_words(effect: Effect, words: str) -> None:
    assert effect_in_words(effect) == words


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"command": "ls\n  -l"}, "ls -l"),
        ({"command": "ls", "timeout": 5}, "{'command': 'ls', 'timeout': 5}"),
        ("x" * 200, "x" * 157 + "..."),
        ("red\x1b[31m\u202ealert", "red\ufffd[31m\ufffdalert"),
        (None, "None"),
    ],
)
def test_a_value_on_one_line_without_anything_that_moves_the_cursor(value: Any, line: str) -> None:
    assert shortened(value) == line
