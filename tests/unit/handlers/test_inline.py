"""Functions of this process: plain ones and coroutines, whatever they return or raise."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snell import HookMatcher, Runtime, judges
from snell.model.context import Context
from snell.model.decision import QUIET, Failure, Outcome
from snell.model.effects import Allow, Deny, Note
from snell.runtime.executor import Executor
from tests.helpers import call, hook, without_times

HERE = Path(__file__)


def run(*functions: Callable[..., Any]) -> list[Outcome]:
    return without_times(
        Executor().run([hook(f"h{n}", function) for n, function in enumerate(functions)], call(), Context())
    )


@pytest.mark.proves("S1-48")
def test_plain_functions_and_coroutines_are_both_called_with_the_event() -> None:
    def plain(event: Any) -> Deny:
        return Deny(event.tool_input["command"])

    async def waits(event: Any) -> Deny:
        await asyncio.sleep(0)
        return Deny(f"awaited {event.tool_input['command']}")

    assert run(plain, waits) == [Outcome(effects=(Deny("ls"),)), Outcome(effects=(Deny("awaited ls"),))]


@pytest.mark.parametrize(
    ("result", "effects"),
    [
        (None, ()),
        ((), ()),
        ([], ()),
        (Note("n"), (Note("n"),)),
        ([Note("n"), Allow()], (Note("n"), Allow())),
        ((Deny("no"),), (Deny("no"),)),
        ("text", ("text",)),
        (False, (False,)),
    ],
)
def test_what_a_function_returns_becomes_its_effects(result: Any, effects: tuple[Any, ...]) -> None:
    assert run(lambda _event: result) == [Outcome(effects=effects)]


def test_a_function_that_says_nothing_at_once_shares_the_quiet_outcome() -> None:
    outcomes = Executor().run([hook("a"), hook("b")], call(), Context())
    assert all(outcome is QUIET or outcome.seconds > 0 for outcome in outcomes)


def test_what_a_function_raises_costs_only_itself_and_says_where() -> None:
    def raises(_event: Any) -> None:
        raise ValueError("bad luck")

    async def fails(_event: Any) -> None:
        raise KeyError("missing")

    line = raises.__code__.co_firstlineno
    assert run(raises, fails, lambda _event: Deny("no")) == [
        Outcome(failure=Failure("crash", f"ValueError: bad luck ({HERE}:{line + 1})")),
        Outcome(failure=Failure("crash", f"KeyError: 'missing' ({HERE}:{line + 4})")),
        Outcome(effects=(Deny("no"),)),
    ]


def test_an_interrupt_of_the_user_is_not_swallowed() -> None:
    def interrupts(_event: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupts)


def test_a_coroutine_inside_a_running_loop_is_a_failure_that_says_what_to_use() -> None:
    async def waits(_event: Any) -> Deny:
        return Deny("no")

    async def program() -> list[Outcome]:
        return run(waits, lambda _event: Deny("plain"))

    advice = "an async hook cannot be waited for inside a running event loop; use `decide_async`"
    assert asyncio.run(program()) == [Outcome(failure=Failure("crash", advice)), Outcome(effects=(Deny("plain"),))]


def test_the_time_of_each_function_is_its_own() -> None:
    import time

    def busy(_event: Any) -> Note:
        until = time.perf_counter() + 0.02
        while time.perf_counter() < until:
            pass
        return Note("done")

    outcomes = Executor().run(
        [hook("quick"), hook("busy", busy), hook("raises", lambda _event: 1 / 0), hook("last")], call(), Context()
    )
    assert [outcome.seconds >= 0.02 for outcome in outcomes][:2] == [False, True]
    assert all(outcome.seconds >= 0 for outcome in outcomes)


@pytest.mark.parametrize("way", ["decorated", "by matcher"])
def test_a_plain_function_that_says_it_waits_does_not_hold_up_the_loop(way):
    went_on = threading.Event()

    def slow(event):
        return Deny("seen") if went_on.wait(30) else None

    if way == "decorated":
        runtime = Runtime.embed(judges("PreToolUse", waits=True)(slow))
    else:
        runtime = Runtime.embed(hooks={"PreToolUse": [HookMatcher("*", [slow], waits=True)]})

    async def both():
        deciding = asyncio.create_task(runtime.decide_async(call()))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(went_on.set)  # never comes if the loop is held up
        return await deciding

    assert asyncio.run(both()).reason == "seen"


def test_no_caller_waits_longer_than_the_limit_for_a_function_in_a_thread():
    ends = threading.Event()
    matcher = HookMatcher("*", [lambda event: ends.wait(30) and None], waits=True, timeout=0.05, on_failure="block")
    runtime = Runtime.embed(hooks={"PreToolUse": [matcher]})

    async def decided():
        try:
            return await runtime.decide_async(call())
        finally:
            ends.set()

    decision = asyncio.run(decided())
    assert (str(decision.verdict), [each.text for each in decision.failures]) == (
        "deny",
        ["did not finish within 0.05 s"],
    )
