"""A decision in words, for a person who asks why."""

from typing import Any

import pytest
from msgspec.structs import replace

from snell.engine.explain import explain, headline, shorten
from snell.engine.record import effect_in_words, late_run, record_of
from snell.model.decision import Decision, Failure, Outcome, Skipped
from snell.model.effects import Allow, Ask, Deny, Effect, Env, Extra, Note, Rewrite, Stop, Tell
from snell.model.hooks import Source
from tests.helpers import call, decide_event, event, hook, policy


def rich_decision() -> Decision:
    """A bit of everything."""

    def adds_make(on: Any) -> Rewrite | None:
        return Rewrite({"command": "make test"}, because="the project has a Makefile") if "pytest" in str(on) else None

    hooks = [
        policy("policy/secrets", role="judges", source=Source("policy", "/etc/snell/policy.toml", 4)),
        hook(
            "toolchain/redirect",
            adds_make,
            role="rewrites",
            source=Source("project", "/project/.snell/hooks/toolchain.py", 12),
        ),
        hook("team/slow", Outcome(failure=Failure("timeout", "did not finish within 5 s and was ended"), seconds=5.0)),
        hook("team/ask", Outcome(effects=(Ask("tests take an hour"),), seconds=0.0123)),
        hook("mine/allow", (Allow("tests are fine"), Tell("running the tests")), role="judges"),
        hook(
            "mine/note",
            Note("mind the\nflaky one"),
            role="informs",
            source=Source("pack:mine", "/packs/mine/note.py", 3),
        ),
        hook("mine/chatty", Outcome(remarks=("printed text, which goes nowhere on PreToolUse",))),
    ]
    decision = decide_event(call("pytest -q", cwd="/project"), *hooks)
    return replace(decision, id="19a-1")


TEXT = """\
PreToolUse Bash from generic   decision 19a-1
  tool_input: make test
  answer: ask, rewritten: tests take an hour
  rewritten by toolchain/redirect, because the project has a Makefile
    before: pytest -q
    after: make test
  note for the model, from mine/note: mind the flaky one
  shown to you, from mine/allow: running the tests
  team/slow failed: did not finish within 5 s and was ended
  judges and informers, together
    policy/secrets                   judges          0.0 ms  no opinion
      from policy, /etc/snell/policy.toml:4
  rewriters, in turn
    toolchain/redirect               rewrites        0.0 ms
      rewrite: the project has a Makefile
      from project, .snell/hooks/toolchain.py:12
  judges and informers, together
    team/slow                        undeclared   5000.0 ms
      failed (timeout); ignored (on_failure = allow)
      from run time
    team/ask                         undeclared     12.3 ms
      ask: tests take an hour
      from run time
    mine/allow                       judges          0.0 ms
      allow: tests are fine; tell: running the tests
      from run time
    mine/note                        informs         0.0 ms
      note: mind the flaky one
      from pack:mine, /packs/mine/note.py:3
    mine/chatty                      undeclared      0.0 ms  no opinion
      from run time
      printed text, which goes nowhere on PreToolUse
  again, on the rewritten input
    policy/secrets                   judges          0.0 ms  no opinion
      from policy, /etc/snell/policy.toml:4
  not run
    mine/off: it is not enabled
  how the outcomes were combined
    ask from `team/ask`
    allow from `mine/allow`
    ask wins"""


def test_a_rich_decision_in_words() -> None:
    record = record_of(rich_decision(), [Skipped("mine/off", "it is not enabled")])
    assert explain(record) == TEXT


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
        "layer": "policy",
        "handler": "python",
        "source": "/etc/snell/policy.toml:4",
        "status": "success",
        "ms": 0.0,
    }


def test_a_decision_about_nothing_is_two_lines() -> None:
    told = explain(record_of(decide_event(event("Stop", cwd="/project"))))
    assert told == "Stop from generic   decision -\n  answer: no opinion"


def test_what_was_odd_about_the_payload_is_told() -> None:
    odd = replace(call(tool_input="ls"), flags=("tool_input is text",))
    assert explain(record_of(decide_event(odd))) == (
        "PreToolUse Bash from generic   decision -\n"
        "  tool_input: ls\n"
        "  answer: no opinion\n"
        "  about the payload: tool_input is text\n"
        "  it has no `cwd`, so no hooks of a project are active"
    )


def test_long_values_go_on_under_their_label_and_nothing_is_wider_than_a_terminal() -> None:
    words = "word " * 30
    fields = {"role": "judges", "source": Source("project", "/project/x.py", 3)}
    decision = decide_event(call(words, cwd="/project"), hook("a" * 40, Deny(words, instead=words), **fields))
    lines = explain(record_of(decision, [Skipped("b", words)], [words])).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("    word")] != []


def test_rewriters_have_one_title_and_a_long_name_a_line_of_its_own() -> None:
    names = ("first", "a_pack_with_a_long_name/a_hook_with_one", "last")
    decision = decide_event(call(cwd="/project"), *(hook(name, role="rewrites") for name in names))
    told = [line for line in explain(record_of(decision)).splitlines() if "from run time" not in line]
    assert told[3:7] == [
        "  rewriters, in turn",
        "    first                            rewrites        0.0 ms  no opinion",
        "    a_pack_with_a_long_name/a_hook_with_one",
        "                                     rewrites        0.0 ms  no opinion",
    ]
    assert told[7:] == ["    last                             rewrites        0.0 ms  no opinion"]


def test_what_cannot_be_broken_stays_whole() -> None:
    path = f"/{'very' * 30}/long.py"
    source = Source("user", path, 7)
    assert f"      from user,\n        {path}:7" in explain(record_of(decide_event(call(), hook("a", source=source))))


def test_the_answer_can_be_made_to_stand_out() -> None:
    record = record_of(decide_event(call(cwd="/p"), hook("a", Deny("deny me"))))
    assert headline(record, str.upper) == "DENY: deny me"
    assert explain(record, str.upper).splitlines()[2] == "  answer: DENY: deny me"


@pytest.mark.parametrize(
    ("decision", "line"),
    [
        (decide_event(call()), "no opinion"),
        (decide_event(call(), hook("a", Allow())), "allow"),
        (decide_event(call(), hook("a", Deny("no", instead="wait"))), "deny: no. Instead: wait"),
        (decide_event(call(), hook("a", Deny("one")), hook("b", Deny("two"))), "deny: one / two"),
        (decide_event(call(), hook("a", Rewrite({"command": "x"}), role="rewrites")), "no opinion, rewritten"),
        (decide_event(call(), hook("a", (Allow("ok"), Rewrite({"command": "x"})))), "allow, rewritten: ok"),
        (decide_event(call(), hook("a", Note("n"))), "no opinion, 1 note"),
        (decide_event(call(), hook("a", (Note("n"), Note("m"), Tell("t")))), "no opinion, 2 notes, 1 message"),
        (decide_event(call(), hook("a", ValueError("broken"))), "no opinion, 1 failure"),
        (decide_event(call(), hook("a", Stop("enough"))), "no opinion, ends the turn"),
        (decide_event(event("SessionStart"), hook("a", Env({"A": "1"}), on="SessionStart")), "no opinion, 1 variable"),
        (decide_event(call(), hook("a", Deny("\x1b[2Jno\x07"))), "deny: no"),
    ],
)
def test_the_headline_is_the_verdict_and_its_reason(decision: Decision, line: str) -> None:
    assert headline(record_of(decision)) == line


@pytest.mark.parametrize(
    ("on_failure", "says"),
    [
        ("allow", "; ignored (on_failure = allow)"),
        ("ask", "; you are asked (on_failure"),
        ("block", "; blocked (on_failure"),
    ],
)
def test_a_failure_says_what_it_means(on_failure: str, says: str) -> None:
    decision = decide_event(call(), hook("a", ValueError("broken"), on_failure=on_failure))
    assert f"failed with an exception{says}" in explain(record_of(decision))


def test_a_refusal_beside_a_failure_is_told_too() -> None:
    both = Outcome(effects=(Deny("no"),), failure=Failure("crash", "exit code 1"))
    assert "failed with an exception; ignored (on_failure = allow); deny: no" in explain(
        record_of(decide_event(call(), hook("a", both)))
    )


def test_a_stop_and_what_was_skipped_are_told() -> None:
    text = explain(record_of(decide_event(call(), policy("p", (Deny("no"), Stop("enough"))), hook("j"))))
    assert "  p ends the turn: enough" in text
    assert "  not run\n    j: a policy hook had already denied" in text


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
        ({"command": "ls", "timeout": 5}, "command: ls, timeout: 5"),
        ("x" * 200, "x" * 157 + "..."),
        ("red\x1b[31m\u202ealert", "red\ufffd[31m\ufffdalert"),
        (None, "None"),
    ],
)
def test_a_value_on_one_line_without_anything_that_moves_the_cursor(value: Any, line: str) -> None:
    assert shorten(value) == line


def test_a_failure_after_the_answer_stopped_no_call():
    expired = hook("slow", on_failure="block", is_async=True)
    run = late_run(expired, Outcome(failure=Failure("timeout", "did not finish within 15 s")))
    text = " ".join(explain({**record_of(decide_event(call())), "late": [run]}).split())
    assert ("failed (timeout)" in text, "on_failure" in text) == (True, False)
