"""
Drive the steps of a tool call, in plain code and in an event loop.

In plain code all steps run in the caller's thread, and a tool cannot be interrupted. In an event loop coroutines are
awaited and plain tools run in a thread; a tool that reaches its time limit keeps that thread.
"""

import asyncio
import inspect
from collections.abc import Awaitable
from typing import Any

from snell.embed.tool_call import Decide, Do, OutOfTimeError, Plan, Result, tool_call_steps
from snell.handlers.python import run_in_thread
from snell.runtime.app import Runtime


def run_call(runtime: Runtime, plan: Plan) -> Result:
    """Run a call to its end."""
    steps = tool_call_steps(plan)
    answer, error = None, None
    try:
        while True:
            step = steps.throw(error) if error else steps.send(answer)
            answer, error = None, None
            try:
                answer = runtime.decide(step.event) if isinstance(step, Decide) else _call(step)
            except BaseException as raised:  # noqa: BLE001 - the steps handle it or raise it again
                error = raised
    except StopIteration as done:
        result: Result = done.value
        return result


async def run_call_async(runtime: Runtime, plan: Plan) -> Result:
    """Do the same without blocking the event loop."""
    steps = tool_call_steps(plan)
    answer, error = None, None
    try:
        while True:
            step = steps.throw(error) if error else steps.send(answer)
            answer, error = None, None
            try:
                answer = await (runtime.decide_async(step.event) if isinstance(step, Decide) else _call_async(step))
            except BaseException as raised:  # noqa: BLE001 - the steps handle it or raise it again
                error = raised
    except StopIteration as done:
        result: Result = done.value
        return result


def _call(step: Do) -> Any:
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


async def _call_async(step: Do) -> Any:
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
