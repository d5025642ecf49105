"""Hooks in the background: pending, completed, expired, cancelled, collected."""

import threading

import pytest

from snell import Note
from snell.model.decision import Failure, Outcome
from snell.model.effects import Tell
from snell.model.hooks import Hook, Inline, Webhook
from snell.runtime.house import House
from snell.runtime.tracker import Tracker
from tests.helpers import call
from tests.loopback import Answer, serving

HANG_BOUND = 20


def hook(id_: str = "h", handler=None, **fields) -> Hook:
    return Hook(**{"id": id_, "event": "PreToolUse", "handler": handler or Inline(lambda event: None), **fields})


@pytest.mark.proves("S1-160")
@pytest.mark.parametrize(
    ("outcome", "state", "is_wanted"),
    [
        (Outcome((Note("x"),)), "completed", True),
        (Outcome(failure=Failure("crash", "x")), "completed", True),
        (Outcome(failure=Failure("timeout", "x")), "expired", True),
        (Outcome(failure=Failure("cancelled", "x")), "cancelled", False),
    ],
)
def test_a_background_hook_ends_in_one_state_and_is_collected_once(outcome, state, is_wanted):
    tracker, one, event = Tracker(), hook(), call()
    tracker.begin(one, event)
    assert ([each.state for each in tracker.pending("s1")], tracker.take("s1")) == (["pending"], ())
    assert tracker.finish(one, event, outcome) is is_wanted
    (ticket,) = tracker.take("s1")
    assert (ticket.state, ticket.outcome, tracker.take("s1"), tracker.pending()) == (state, outcome, (), ())


@pytest.mark.proves("S1-160")
def test_the_end_of_a_session_cancels_what_it_has_in_the_background_and_nothing_else():
    tracker = Tracker()
    mine = tracker.begin(hook(), call())
    other = tracker.begin(hook(), call(session_id="other"))
    assert (tracker.cancel("s1"), mine.is_set(), other.is_set()) == (1, True, False)
    assert [each.state for each in tracker.all()] == ["cancelled", "pending"]


def test_what_a_cancelled_hook_still_says_is_not_wanted():
    tracker, one, event = Tracker(), hook(), call()
    tracker.begin(one, event)
    tracker.cancel("s1")
    assert (tracker.finish(one, event, Outcome((Note("late"),))), tracker.all()[0].state) == (False, "cancelled")


def test_a_hook_that_was_never_in_the_background_is_wanted():
    assert Tracker().finish(hook(), call(), Outcome()) is True


def test_old_tickets_go_and_pending_ones_stay():
    tracker = Tracker()
    waiting = hook("waiting")
    tracker.begin(waiting, call())
    for _ in range(1_100):
        one, event = hook(), call()
        tracker.begin(one, event)
        tracker.finish(one, event, Outcome())
    assert (len(tracker.all()) <= 1_002, tracker.pending()[0].hook) == (True, waiting)


@pytest.mark.proves("S1-160")
def test_a_session_that_ends_stops_its_async_webhook():
    arrived = threading.Event()

    def slow(_sent) -> Answer:
        arrived.set()
        return Answer({"additionalContext": "late"}, before=HANG_BOUND)

    with serving(slow) as server:
        house = House.embedded(hook("w", Webhook(server.url), is_async=True, async_timeout=HANG_BOUND))
        house.decide(call())
        assert arrived.wait(HANG_BOUND)
        house.decide(call(name="SessionEnd"))
        house.close()
        states = [(each.hook.id, each.state) for each in house.background.all()]
    assert states == [("w", "cancelled")]


def test_notes_and_messages_of_a_background_hook_reach_the_next_event():
    release = threading.Event()

    def slow(event):
        release.wait(HANG_BOUND)
        return [Note("red build"), Tell("look at it")]

    house = House.embedded(hook("slow", Inline(slow), is_async=True))
    house.decide(call())
    release.set()
    house.close()
    house.unregister(layer="run time")
    assert (house.decide(call()).note, [each.state for each in house.background.take("s1")]) == (
        "red build\nlook at it",
        ["completed"],
    )
