"""Two drivers for one engine: they decide alike, and the async one neither blocks nor forgets."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from snell.engine.decide import decide
from snell.engine.registry import Registry
from snell.model.context import Context
from snell.model.decision import Decision, Failure, Outcome
from snell.model.effects import Allow, Deny, Note, Rewrite
from snell.model.events import Event
from snell.model.hooks import Broken, Hook
from snell.runtime.event_flow import run_decision, run_decision_async
from snell.runtime.executor import Executor
from snell.store.in_memory import InMemoryStore
from tests.helpers import call, event, hook, policy, summary_of, without_times


def both_ways(on: Event, hooks: Sequence[Hook]) -> tuple[Decision, Decision]:
    """The decision of ordinary code and that of code in an event loop, each from a fresh start."""
    executor = Executor()
    try:
        plain = run_decision(decide(on, Registry(hooks), InMemoryStore()), executor, Context())
        looped = asyncio.run(run_decision_async(decide(on, Registry(hooks), InMemoryStore()), executor, Context()))
    finally:
        executor.close()
    return timeless(plain), timeless(looped)


def timeless(decision: Decision) -> Decision:
    rounds = tuple(replace(each, outcomes=tuple(without_times(each.outcomes))) for each in decision.rounds)
    return replace(decision, rounds=rounds)


async def denies(_event: Event) -> Deny:
    await asyncio.sleep(0)
    return Deny("awaited")


def becomes(command: str) -> Rewrite:
    return Rewrite({"command": command})


CASES: dict[str, list[Hook]] = {
    "no hooks": [],
    "silence": [hook("a"), hook("b", role="judges")],
    "a coroutine": [hook("a", denies), hook("b", Allow("ok"))],
    "rewriters in turn": [
        hook("a", lambda on: becomes(on.tool_input["command"] + " a"), role="rewrites"),
        hook("b", lambda on: becomes(on.tool_input["command"] + " b")),
        hook("c", lambda on: Note(on.tool_input["command"]), role="judges"),
    ],
    "a policy that refuses": [policy("p", denies), hook("a", Allow("ok"))],
    "a policy that looks again": [policy("p", lambda on: Note(str(on.tool_input))), hook("a", becomes("rm"))],
    "failures": [hook("a", lambda _event: 1 / 0), hook("b", lambda _event: 1 / 0, on_failure="block")],
    "something slow between": [
        hook("a", Note("1")),
        Hook(id="slow", event="PreToolUse", handler=Broken("cannot run")),
        hook("b", denies),
    ],
}


@pytest.mark.parametrize("hooks", CASES.values(), ids=CASES)
def test_both_drivers_give_the_same_decision(hooks: list[Hook]) -> None:
    plain, looped = both_ways(call(), hooks)
    assert plain == looped


def test_answers_come_back_in_execution_order_from_both() -> None:
    plain, looped = both_ways(call(), CASES["something slow between"])
    expected = [
        ("a", Outcome(effects=(Note("1"),))),
        ("slow", Outcome(failure=Failure("launch", "cannot run"))),
        ("b", Outcome(effects=(Deny("awaited"),))),
    ]
    assert [(hook.id, outcome) for _, hook, outcome in plain.runs()] == expected
    assert [(hook.id, outcome) for _, hook, outcome in looped.runs()] == expected


def test_an_event_without_hooks_needs_no_executor() -> None:
    class NoExecutor:
        def run(self, hooks: Any, event: Any, _context: Any) -> Any:
            raise AssertionError("no hook is to be run")

        run_async = run

    on = event("Stop")
    assert run_decision(decide(on, Registry([]), InMemoryStore()), NoExecutor(), Context()) == Decision(event=on)
    assert asyncio.run(
        run_decision_async(decide(on, Registry([]), InMemoryStore()), NoExecutor(), Context())
    ) == Decision(event=on)


def test_the_loop_goes_on_while_a_hook_waits() -> None:
    async def program() -> dict[str, Any]:
        ready = asyncio.Event()

        async def waits(_event: Event) -> Deny:
            await asyncio.wait_for(ready.wait(), 10)
            return Deny("the loop went on")

        deciding = asyncio.create_task(
            run_decision_async(decide(call(), Registry([hook("a", waits)]), InMemoryStore()), Executor(), Context())
        )
        await asyncio.sleep(0)
        ready.set()
        return summary_of(await deciding)

    assert asyncio.run(program()) == {"verdict": "deny", "reasons": [("a", "the loop went on")]}


def test_a_coroutine_that_exceeds_its_limit_is_ended_and_reported() -> None:
    ended: list[str] = []

    async def endless(_event: Event) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    hooks = [hook("a", endless, timeout=0.05), hook("b", Note("still there"))]
    decision = asyncio.run(run_decision_async(decide(call(), Registry(hooks), InMemoryStore()), Executor(), Context()))
    assert summary_of(decision) == {"verdict": "no_opinion", "notes": [("b", "still there")], "failures": ["a"]}
    assert ([outcome.status for _, _, outcome in decision.runs()], ended) == (["cancelled", "success"], ["ended"])


def test_a_timeout_that_the_hook_raises_itself_is_a_failure_too() -> None:
    async def gives_up(_event: Event) -> None:
        raise TimeoutError("the server did not answer")

    decision = asyncio.run(
        run_decision_async(decide(call(), Registry([hook("a", gives_up)]), InMemoryStore()), Executor(), Context())
    )
    assert summary_of(decision) == {"verdict": "no_opinion", "failures": ["a"]}


def test_a_cancelled_decision_cancels_its_hooks_and_leaves_no_mark() -> None:
    ended: list[str] = []
    marks = InMemoryStore()

    async def program() -> None:
        started = asyncio.Event()

        async def endless(_event: Event) -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("ended")

        deciding = asyncio.create_task(
            run_decision_async(decide(call(), Registry([hook("a", endless, once=True)]), marks), Executor(), Context())
        )
        await asyncio.wait_for(started.wait(), 10)
        deciding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await deciding

    asyncio.run(program())
    assert (ended, marks.get("session:s1", "once:a")) == (["ended"], None)


@pytest.mark.proves("S1-98")
def test_coroutines_of_one_round_wait_for_each_other() -> None:
    """Each of two hooks waits for what the other one does; one after the other they would never end."""

    async def program() -> dict[str, Any]:
        first, second = asyncio.Event(), asyncio.Event()

        async def one(_event: Event) -> Note:
            first.set()
            await second.wait()
            return Note("one")

        async def two(_event: Event) -> Note:
            second.set()
            await first.wait()
            return Note("two")

        hooks = [hook("a", one, timeout=5), hook("b", two, timeout=5)]
        return summary_of(
            await run_decision_async(decide(call(), Registry(hooks), InMemoryStore()), Executor(), Context())
        )

    assert asyncio.run(program()) == {"verdict": "no_opinion", "notes": [("a", "one"), ("b", "two")]}
