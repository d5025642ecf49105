"""Plain JSON in, the whole decision out."""

import json
from typing import Any

import pytest

from snell.clients.generic import SPELLINGS, decode, encode
from snell.model.catalogue import CATALOGUE
from snell.model.decision import Decision, Reason
from snell.model.effects import Deny, Env, Extra, Note, Rewrite, Stop, Tell
from snell.model.events import Event, event_from
from tests.helpers import call, decide_event, event, hook


def decoded(**payload: Any) -> Event:
    return decode(json.dumps(payload).encode())


@pytest.mark.parametrize("field", ["hook_event_name", "hookEventName", "hook_event", "hookEvent", "event"])
@pytest.mark.parametrize("name", ["PreToolUse", "preToolUse", "pre_tool_use", "pre-tool-use", "PRETOOLUSE"])
@pytest.mark.proves("S1-13", "S1-16")
def test_the_event_may_be_named_in_any_usual_field_and_spelling(field: str, name: str) -> None:
    assert decoded(**{field: name}) == event_from({"hook_event_name": "PreToolUse"}, "PreToolUse")


@pytest.mark.proves("S1-13")
def test_every_event_is_known_in_snake_case() -> None:
    for name in CATALOGUE:
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
        assert decoded(event=snake).name == name


def test_a_field_called_event_is_left_alone_when_the_event_is_named_elsewhere() -> None:
    assert decoded(hook_event_name="FileChanged", event="unlink").payload == {
        "hook_event_name": "FileChanged",
        "event": "unlink",
    }


def test_a_name_that_is_not_text_is_passed_over() -> None:
    assert decoded(hook_event_name=None, hookEventName="Stop").name == "Stop"


def test_every_alias_is_folded_and_unknown_fields_stay() -> None:
    for alias, field in SPELLINGS.items():
        assert decoded(event="Stop", **{alias: "x", "someThing": 1}).payload == {
            "hook_event_name": "Stop",
            field: "x",
            "someThing": 1,
        }


def test_of_two_spellings_the_canonical_one_counts_and_the_other_is_flagged() -> None:
    expected = ("toolName is ignored, tool_name is given too",)
    for payload in ({"toolName": "Read", "tool_name": "Bash"}, {"tool_name": "Bash", "toolName": "Read"}):
        found = decoded(event="PreToolUse", **payload)
        assert (found.tool, found.payload["toolName"], found.flags) == ("Bash", "Read", expected)
    found = decoded(event="PostToolUse", toolOutput="a", tool_output="b")
    assert (found.tool_response, found.flags) == ("a", ("tool_output is ignored, tool_response is given too",))


@pytest.mark.parametrize("value", [None, [], ["ls"], "ls", '{"command": "ls"}', 7, True, {}, {"a": [{"b": None}]}])
@pytest.mark.proves("S1-18")
def test_the_input_of_a_tool_may_be_any_json_value_and_stays_as_it_came(value: Any) -> None:
    found = decoded(event="PreToolUse", toolName="Bash", toolInput=value)
    assert found.payload["tool_input"] == value
    assert type(found.payload["tool_input"]) is type(value)
    assert bool(found.flags) == (not isinstance(value, dict))


def test_the_reply_holds_the_whole_decision_and_ends_its_line() -> None:
    decision = decide_event(
        event("SessionStart", source="startup"),
        hook("a", (Note("n"), Tell("t"), Env({"A": "b"}), Extra("sessionTitle", "x")), on="SessionStart"),
        hook("b", ValueError("oops"), on="SessionStart"),
    )
    reply = encode(Decision(**{field: getattr(decision, field) for field in decision.__struct_fields__} | {"id": "d7"}))
    assert reply.stdout.endswith(b"}\n")
    assert (reply.stderr, reply.exit_code) == (b"", 0)
    failures = [{"hook": "b", "text": decision.failures[0].text}]
    assert json.loads(reply.stdout) == {
        "decision_id": "d7",
        "event": "SessionStart",
        "verdict": "no_opinion",
        "notes": [{"hook": "a", "text": "n"}],
        "tells": [{"hook": "a", "text": "t"}],
        "env": {"A": "b"},
        "extras": {"sessionTitle": "x"},
        "failures": failures,
        "continue": True,
    }


def test_a_denied_call_has_no_updated_input() -> None:
    reply = encode(decide_event(call("rm x"), hook("a", Rewrite({"command": "ls"})), hook("b", Deny("no"))))
    assert json.loads(reply.stdout) == {
        "event": "PreToolUse",
        "verdict": "deny",
        "reason": "no",
        "reasons": [{"hook": "b", "text": "no"}],
        "continue": True,
    }


def test_a_stop_without_a_reason_is_still_a_stop() -> None:
    reply = encode(Decision(event=call(), stop=Reason("a", "")))
    assert json.loads(reply.stdout) == {"event": "PreToolUse", "verdict": "no_opinion", "continue": False}
    assert json.loads(encode(decide_event(call(), hook("a", Stop()))).stdout)["continue"] is False
