"""The first event is answered before there is a loop, even by hooks that may wait."""

import threading
from collections.abc import Callable

import pytest

from snell.model.context import Context
from snell.model.events import event_from
from snell.model.hooks import Hook, Inline
from snell.runtime.executor import QUICK_SECONDS, Executor

EVENT = event_from({"session_id": "s", "source": "startup"}, "SessionStart")


@pytest.fixture
def executor():
    made = Executor()
    yield made
    made.close()


def waiting(function: Callable[..., object]) -> tuple[Hook, ...]:
    return (Hook(id="restore", event="SessionStart", role="informs", handler=Inline(function, waits=True)),)


def test_a_hook_that_may_wait_and_does_not_is_done_at_once_for_the_first_event(executor: Executor) -> None:
    executor.quick_seconds = 20.0
    (outcome,) = executor.run_at_once(waiting(lambda event: None), EVENT, Context())
    assert outcome.status == "success"


def test_a_hook_that_takes_long_leaves_the_first_event_to_the_loop(executor: Executor) -> None:
    executor.quick_seconds = 2 * QUICK_SECONDS
    go, calls = threading.Event(), []

    def slow(event: object) -> None:
        go.wait(20)
        calls.append(event)

    wait = executor.run_at_once(waiting(slow), EVENT, Context())
    assert callable(wait)
    go.set()
    (outcome,) = wait()
    assert (outcome.status, calls) == ("success", [EVENT]), "it ran once"


def test_for_later_events_a_thread_of_the_loop_waits(executor: Executor) -> None:
    assert callable(executor.run_at_once(waiting(lambda event: None), EVENT, Context()))
