"""
Two drivers for the course of a tool call.

In plain code everything happens in the caller's thread, and a tool cannot be ended. Inside an event loop coroutines
are awaited and plain tools run in a thread; one that runs out of time is left behind there.
"""

import asyncio
import inspect
from collections.abc import Awaitable
from typing import Any

from snell.embed.tool_call import Decide, Do, OutOfTimeError, Plan, Result, tool_call_steps
from snell.runtime.app import Runtime
from snell.runtime.executor import run_in_thread


def run_call(runtime: Runtime, plan: Plan) -> Result:
    """See a call through to its end."""
    steps = tool_call_steps(plan)
    answer, error = None, None
    try:
        while True:
            step = steps.throw(error) if error else steps.send(answer)
            answer, error = None, None
            try:
                answer = runtime.decide(step.event) if isinstance(step, Decide) else _done(step)
            except BaseException as raised:  # noqa: BLE001 - the course knows what it means, and raises the rest
                error = raised
    except StopIteration as done:
        result: Result = done.value
        return result


async def run_call_async(runtime: Runtime, plan: Plan) -> Result:
    """The same without blocking the loop."""
    steps = tool_call_steps(plan)
    answer, error = None, None
    try:
        while True:
            step = steps.throw(error) if error else steps.send(answer)
            answer, error = None, None
            try:
                answer = await (runtime.decide_async(step.event) if isinstance(step, Decide) else _awaited(step))
            except BaseException as raised:  # noqa: BLE001 - the course knows what it means, and raises the rest
                error = raised
    except StopIteration as done:
        result: Result = done.value
        return result


def _done(step: Do) -> Any:
    result = step.function(*step.arguments)
    return _run(result, step.timeout) if inspect.isawaitable(result) else result


def _run(result: Awaitable[Any], limit: float | None) -> Any:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_within(result, limit))
    if inspect.iscoroutine(result):
        result.close()
    raise TypeError("a coroutine cannot be waited for inside a running event loop; use `run_async`")


async def _awaited(step: Do) -> Any:
    if step.is_tool and not inspect.iscoroutinefunction(step.function):
        result = await _within(run_in_thread(step.function, *step.arguments), step.timeout)
    else:
        result = step.function(*step.arguments)
    return await _within(result, step.timeout) if inspect.isawaitable(result) else result


async def _within(result: Awaitable[Any], limit: float | None) -> Any:
    limited = asyncio.timeout(limit)
    try:
        async with limited:
            return await result
    except TimeoutError:
        if limited.expired():
            raise OutOfTimeError from None
        raise
