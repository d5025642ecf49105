"""Hooks in the background: pending, completed, expired, cancelled, collected."""

import threading
import time

import pytest

from snell import Note
from snell.handlers.webhook import Webhook
from snell.model.decision import Failure, Outcome
from snell.model.effects import Tell
from snell.model.hooks import Hook, Inline
from snell.runtime.app import Runtime
from snell.runtime.background_hooks import BackgroundHooks
from snell.runtime.executor import LATER_THREADS
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
    background, one, event = BackgroundHooks(), hook(), call()
    background.begin(one, event)
    assert ([each.state for each in background.pending("s1")], background.take("s1")) == (["pending"], ())
    assert background.finish(one, event, outcome) is is_wanted
    (ticket,) = background.take("s1")
    assert (ticket.state, ticket.outcome, background.take("s1"), background.pending()) == (state, outcome, (), ())


@pytest.mark.proves("S1-160")
def test_the_end_of_a_session_cancels_what_it_has_in_the_background_and_nothing_else():
    background = BackgroundHooks()
    mine = background.begin(hook(), call())
    other = background.begin(hook(), call(session_id="other"))
    assert (background.cancel("s1"), mine.is_set(), other.is_set()) == (1, True, False)
    assert [each.state for each in background.all()] == ["cancelled", "pending"]


def test_what_a_cancelled_hook_still_says_is_not_wanted():
    background, one, event = BackgroundHooks(), hook(), call()
    background.begin(one, event)
    background.cancel("s1")
    assert (background.finish(one, event, Outcome((Note("late"),))), background.all()[0].state) == (False, "cancelled")


def test_a_hook_that_was_never_in_the_background_is_wanted():
    assert BackgroundHooks().finish(hook(), call(), Outcome()) is True


def test_old_tickets_go_and_pending_ones_stay():
    background = BackgroundHooks()
    waiting = hook("waiting")
    background.begin(waiting, call())
    for _ in range(1_100):
        one, event = hook(), call()
        background.begin(one, event)
        background.finish(one, event, Outcome())
    assert (len(background.all()) <= 1_002, background.pending()[0].hook) == (True, waiting)


@pytest.mark.proves("S1-160")
def test_a_session_that_ends_stops_its_async_webhook():
    arrived = threading.Event()

    def slow(_sent) -> Answer:
        arrived.set()
        return Answer({"additionalContext": "late"}, before=HANG_BOUND)

    release = threading.Event()
    elsewhere = hook(
        "elsewhere", Inline(lambda event: release.wait(HANG_BOUND) and None), is_async=True, matcher="Read"
    )
    with serving(slow) as server:
        webhook = hook("w", Webhook(server.url), is_async=True, async_timeout=HANG_BOUND, matcher="Bash")
        runtime = Runtime.embed(webhook, elsewhere)
        runtime.decide(call())
        runtime.decide(call(tool="Read", session_id="other"))
        assert arrived.wait(HANG_BOUND)
        runtime.decide(call(name="SessionEnd"))
        release.set()
        runtime.close()
        states = [(each.hook.id, each.state) for each in runtime.background.all()]
    assert states == [("w", "cancelled"), ("elsewhere", "completed")]


def test_slow_background_hooks_hold_up_neither_each_other_nor_those_that_only_watch():
    slow, release, watched = 8, threading.Event(), threading.Event()
    together = threading.Barrier(slow)

    def waiting() -> Inline:  # one each: the same function twice would be one hook
        return Inline(lambda event: together.wait(HANG_BOUND) >= 0 and release.wait(HANG_BOUND) and None)

    hooks = [hook(f"slow{number}", waiting(), is_async=True) for number in range(slow)]
    quick = hook("quick", Inline(lambda event: Note("quick")), is_async=True)
    watcher = hook("watcher", Inline(lambda event: watched.set()), role="watches")
    with Runtime.embed(*hooks, quick, watcher) as runtime:
        runtime.decide(call())
        assert watched.wait(HANG_BOUND)
        assert eventually(lambda: [each.hook.id for each in runtime.background.take("s1")], ["quick"])
        assert eventually(lambda: runtime.decide(call("pwd", name="PostToolUse")).note, "quick")  # the others go on
        assert (len(runtime.background.pending("s1")), runtime.executor.backlog) == (slow, 0)
        release.set()
    assert {each.state for each in runtime.background.all()} == {"completed"}


def test_what_many_background_hooks_say_at_once_all_arrives():
    together = threading.Barrier(24)

    def says(number: int) -> Inline:
        return Inline(lambda event: [Note(f"note {number}")] if together.wait(HANG_BOUND) >= 0 else None)

    runtime = Runtime.embed(*(hook(f"h{number}", says(number), is_async=True) for number in range(24)))
    runtime.decide(call())
    runtime.close()
    runtime.unregister(layer="run time")
    assert set(runtime.decide(call()).note.split("\n")) == {f"note {number}" for number in range(24)}


def test_a_session_that_ends_keeps_its_background_hooks_from_beginning():
    release, ran = threading.Event(), []
    blocking = hook("blocking", Inline(lambda event: release.wait(HANG_BOUND)), is_async=True)
    behind = hook("behind", Inline(lambda event: ran.append(event.session_id)), is_async=True, matcher="Read")
    runtime = Runtime.embed(blocking, behind)
    for _ in range(LATER_THREADS["background"]):
        runtime.decide(call(session_id="other"))
    runtime.decide(call(tool="Read"))
    runtime.decide(call(name="SessionEnd"))
    release.set()
    runtime.close()
    assert (ran, {each.state for each in runtime.background.all("s1")}) == ([], {"cancelled"})


def test_what_did_not_get_its_turn_before_the_end_is_cancelled_and_on_record(monkeypatch):
    monkeypatch.setattr("snell.runtime.executor.CLOSE_SECONDS", 0.0)
    release = threading.Event()
    runtime = Runtime.embed(hook("blocking", Inline(lambda event: release.wait(HANG_BOUND)), is_async=True))
    for _ in range(LATER_THREADS["background"] + 3):
        runtime.decide(call())
    assert runtime.executor.backlog == 3
    closing = threading.Thread(target=runtime.close)
    closing.start()
    assert eventually(lambda: len(runtime.background.pending()), LATER_THREADS["background"])
    release.set()
    closing.join(HANG_BOUND)
    states = [each.state for each in runtime.background.all()]
    assert (states.count("completed"), states.count("cancelled")) == (LATER_THREADS["background"], 3)


def eventually(look, wanted) -> bool:
    """Does it come to be so?"""
    deadline = time.monotonic() + HANG_BOUND
    while (found := look()) != wanted and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    return found == wanted


@pytest.mark.proves("S1-159")
def test_notes_and_messages_of_a_background_hook_reach_the_next_event():
    release = threading.Event()

    def slow(event):
        release.wait(HANG_BOUND)
        return [Note("red build"), Tell("look at it")]

    runtime = Runtime.embed(hook("slow", Inline(slow), is_async=True))
    runtime.decide(call())
    release.set()
    runtime.close()
    runtime.unregister(layer="run time")
    assert (runtime.decide(call()).note, [each.state for each in runtime.background.take("s1")]) == (
        "red build\nlook at it",
        ["completed"],
    )
