"""Tools that run out of time, and calls that are cancelled."""

import asyncio

import pytest

from snell import HookMatcher, Tool, ToolRunner
from tests.unit.embed.recorder import Recorder

HI = {"text": "hi"}


@pytest.mark.proves("S1-03")
def test_a_tool_that_runs_out_of_time_has_failed():
    ends = []

    async def slow():
        try:
            await asyncio.sleep(60)
        finally:
            ends.append("ended")

    recorder = Recorder()
    runner = ToolRunner(
        [Tool("slow", slow, timeout=0.01)],
        hooks={"PostToolUseFailure": [HookMatcher(hooks=[recorder.hook("PostToolUseFailure")])]},
    )
    result = asyncio.run(runner.run_async("slow", {}))
    assert (result.status, result.error, ends) == ("timeout", "did not finish within 0.01 s", ["ended"])
    assert recorder.seen == [("PostToolUseFailure", {}), "did not finish within 0.01 s"]


def test_a_time_out_of_the_tools_own_is_an_ordinary_failure():
    async def impatient():
        raise TimeoutError("the server is silent")

    result = asyncio.run(ToolRunner([Tool("impatient", impatient, timeout=60)]).run_async("impatient", {}))
    assert (result.status, result.error) == ("failed", "the server is silent")


@pytest.mark.proves("S1-03")
def test_cancelling_the_task_interrupts_the_tool_and_hooks_get_to_know():
    begun, interrupts = asyncio.Event(), []

    async def endless():
        begun.set()
        await asyncio.sleep(60)

    def note_down(event):
        interrupts.append(event.payload["is_interrupt"])

    async def main():
        runner = ToolRunner([endless], hooks={"PostToolUseFailure": [HookMatcher(hooks=[note_down])]})
        task = asyncio.create_task(runner.run_async("endless", {}))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert interrupts == [True]


def test_cancelling_the_runner_ends_its_calls_and_lets_none_begin():
    begun = asyncio.Event()

    async def endless():
        begun.set()
        await asyncio.sleep(60)

    async def main():
        runner = ToolRunner([endless])
        task = asyncio.create_task(runner.run_async("endless", {}))
        await begun.wait()
        runner.cancel()
        return [await task, await runner.run_async("endless", {})]

    results = asyncio.run(main())
    assert [(each.status, each.error) for each in results] == [("cancelled", "the session was cancelled")] * 2


def test_an_interrupt_from_the_keyboard_is_reported_and_goes_on():
    recorder = Recorder(run=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        recorder.runner().run("echo", HI)
    assert recorder.seen[-1] == "was interrupted"


def test_a_tool_that_raises_stop_iteration_has_failed_in_a_loop_too():
    def first(names):
        return next(iter(names))

    runner = ToolRunner([first])
    results = [runner.run("first", {"names": []}), asyncio.run(runner.run_async("first", {"names": []}))]
    assert [(each.status, each.text) for each in results] == [("failed", "StopIteration")] * 2
