"""What model hooks may use: tokens of a session, money of a day."""

import json

import pytest

from snell.model.context import Context, HandlerSettings, ModelSettings
from snell.model.decision import Failure, Outcome
from tests.handler_helpers import outcome_of
from tests.helpers import call
from tests.model_server import Line, model
from tests.unit.handlers.test_prompt import OK, prompt


def test_a_session_has_a_budget_of_tokens(tmp_path):
    with model([Line('"ok": true}', tokens=(600, 500)), OK, OK]) as server:
        given = ModelSettings(url=server.url, api="anthropic", max_session_tokens=1_000)
        context = Context(settings=HandlerSettings(given, state=str(tmp_path)))
        outcomes = [outcome_of(prompt(), call(session_id=name), context=context) for name in ("a", "a", "b")]
    why = "this session has used its 1,000 tokens; see `model.max_session_tokens`"
    assert outcomes == [Outcome(), Outcome(failure=Failure("launch", why)), Outcome()]


def test_events_without_a_session_have_a_budget_of_their_own(tmp_path):
    with model([Line('"ok": true}', tokens=(600, 500)), OK]) as server:
        given = ModelSettings(url=server.url, api="anthropic", max_session_tokens=1_000)
        context = Context(settings=HandlerSettings(given, state=str(tmp_path)))
        outcomes = [outcome_of(prompt(), call(session_id=name), context=context) for name in ("", "", "a")]
    why = "events without a session have used today's 1,000 tokens; see `model.max_session_tokens`"
    assert outcomes == [Outcome(), Outcome(failure=Failure("launch", why)), Outcome()]
    counted = json.loads((tmp_path / "model-usage.json").read_text(encoding="utf-8"))
    assert list(counted["sessions"]) == [f"no session, {counted['day']}", "a"]


@pytest.mark.parametrize("api", ["anthropic", "openai"])
@pytest.mark.parametrize("streams", [True, False])
def test_what_a_server_does_not_count_is_guessed(tmp_path, api, streams):
    with model([Line('"ok": true}', tokens=(0, 0))], streams=streams) as server:
        given = ModelSettings(url=server.url, api=api, max_session_tokens=100)
        context = Context(settings=HandlerSettings(given, state=str(tmp_path)))
        outcomes = [outcome_of(prompt(), context=context) for _ in range(2)]
    why = "this session has used its 100 tokens; see `model.max_session_tokens`"
    assert outcomes == [Outcome(), Outcome(failure=Failure("launch", why))]


def test_a_day_has_a_budget_of_money(tmp_path):
    with model([Line('"ok": true}', tokens=(1_000_000, 100_000)), OK]) as server:
        given = ModelSettings(url=server.url, api="openai", max_daily_cost=2.0, input_price=1.0, output_price=15.0)
        context = Context(settings=HandlerSettings(given, state=str(tmp_path)))
        outcomes = [outcome_of(prompt(), call(session_id=name), context=context) for name in ("a", "b")]
    why = "model hooks have cost 2.50 today; see `model.max_daily_cost`"
    assert outcomes == [Outcome(), Outcome(failure=Failure("launch", why))]
