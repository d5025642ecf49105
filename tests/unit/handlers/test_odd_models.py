"""Model servers that answer in odd ways: a failure in words, a refusal where there is one, and a count that holds."""

import json

import pytest

from snell.model.context import Context, HandlerSettings, ModelSettings
from snell.model.decision import Failure, Outcome
from snell.model.effects import Deny
from tests.handler_helpers import Agent, asking, outcome_of
from tests.loopback import Answer, serving
from tests.model_server import Line, model
from tests.unit.handlers.test_prompt import prompt

OK = '{"ok": true}'
NOT_THE_FORM = Outcome(failure=Failure("output", "the model's server did not answer in the form of its API"))


def stream(*events: dict) -> Answer:
    chunks = tuple(f"data: {json.dumps(each)}\n\n".encode() for each in events)
    return Answer(headers={"content-type": "text/event-stream"}, chunks=chunks)


def whole(answer: dict) -> Answer:
    return Answer(answer, headers={"content-type": "application/json"})


def text_block(text: str = OK) -> dict:
    return {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": text}}


@pytest.mark.parametrize(
    ("api", "answer"),
    [
        ("anthropic", stream({"type": "message_start", "message": None}, text_block(), {"type": "message_stop"})),
        ("anthropic", stream({"type": "content_block_start", "index": "z", "content_block": {"type": "text"}})),
        ("anthropic", stream({"type": "content_block_delta", "index": 0, "delta": "x"}, {"type": "message_stop"})),
        ("anthropic", whole({"content": [{"type": "text", "text": OK}], "usage": "x"})),
        ("anthropic", whole({"content": [{"type": "text", "text": OK}], "usage": {"input_tokens": "x"}})),
        ("anthropic", whole({"content": 5})),
        ("anthropic", whole({"content": [{"type": "tool_use", "id": "a", "name": "Read", "input": "x"}]})),
        ("openai", stream({"choices": "x"})),
        ("openai", stream({"choices": {"a": 1}})),
        ("openai", stream({"choices": [{"delta": {"tool_calls": "abc"}, "finish_reason": "x"}]})),
        ("openai", whole({"choices": "x"})),
        ("openai", whole({"choices": 5})),
        ("openai", whole({"choices": [{"message": "x"}]})),
        ("openai", whole({"choices": [{"message": {"content": OK}}], "usage": "x"})),
    ],
)
@pytest.mark.parametrize("asks", [prompt(), Agent("Check")], ids=["prompt", "agent"])
def test_an_answer_of_another_shape_is_a_failure_in_words(api, answer, asks):
    with serving(answer) as server:
        assert outcome_of(asks, context=asking(server, api=api)) == NOT_THE_FORM


def test_an_error_that_is_none_is_no_error():
    said = {"error": None, "choices": [{"delta": {"content": OK}, "finish_reason": "stop"}]}
    with serving(stream(said)) as server:
        assert outcome_of(prompt(), context=asking(server, api="openai")) == Outcome()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('"ok": false', "the model refused without a reason"),
        ('{"ok": false,', "the model refused without a reason"),
        ('"ok": false, "rea', "the model refused without a reason"),
        ('"ok": false, "reason": "', "the model refused without a reason"),
        ('"ok": false, "reason": "this deletes the', "this deletes the … [cut off]"),
        ('"ok": false, "reason": "no", "impossible": tr', "no … [cut off]"),
        ('"reason": "no tests", "ok": false', "no tests … [cut off]"),
        ('So: {"ok": false, "reason": "a \\"quoted\\" wo', 'a \\"quoted\\" wo … [cut off]'),
    ],
)
@pytest.mark.parametrize("asks", [prompt(), Agent("Check")], ids=["prompt", "agent"])
def test_a_refusal_that_was_cut_off_is_a_refusal(text, reason, asks):
    text = text if isinstance(asks, type(prompt())) or "{" in text else "{" + text
    with model([Line(text)]) as server:
        assert outcome_of(asks, context=asking(server)) == Outcome((Deny(reason),))


def test_a_refusal_whose_reason_runs_away_is_a_refusal():
    with model([Line(f'"ok": false, "reason": "{"r" * 200_000}"}}')]) as server:
        (refusal,) = outcome_of(prompt(), context=asking(server)).effects
    assert (type(refusal), refusal.because[:3], refusal.because[-9:]) == (Deny, "rrr", "[cut off]")


@pytest.mark.parametrize("text", ['"ok": tru', '"ok": true, "reason": "fine', '"reason": "it is not "ok": false'])
def test_what_was_cut_off_and_is_no_refusal_is_a_failure(text):
    with model([Line(text)]) as server:
        outcome = outcome_of(prompt(), context=asking(server))
    assert (outcome.effects, outcome.failure.kind) == ((), "output")


@pytest.mark.parametrize("tokens", [(-1_000_000, 1), (1, -1_000_000), (10**40, 1)])
@pytest.mark.parametrize("api", ["anthropic", "openai"])
def test_a_server_cannot_count_a_budget_down_or_out_of_numbers(tmp_path, api, tokens):
    with model([Line('"ok": true}', tokens=tokens)] * 40) as server:
        given = ModelSettings(url=server.url, api=api, max_session_tokens=200)
        context = Context(settings=HandlerSettings(given, state=str(tmp_path)))
        outcomes = [outcome_of(prompt(), context=context) for _ in range(40)]
    assert (outcomes[0], outcomes[-1].failure.kind) == (Outcome(), "launch")
    assert json.loads((tmp_path / "model-usage.json").read_text(encoding="utf-8"))["sessions"]["s1"] >= 200
