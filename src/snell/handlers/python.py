"""
Python hooks that run in this process: those of built-in packs and of a program that embeds Snell.

Everybody else's run in a warm child process, see `handlers/worker/client.py`.
"""

import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from snell.handlers.worker.child_main import UNNOTICEABLE
from snell.model.decision import QUIET, Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook, Inline

Function = Callable[[Event], Any]


def run_inline(functions: Sequence[Function], event: Event, hooks: Sequence[Hook]) -> list[Outcome]:
    """Run functions of this process, one after the other. An async one has a limit; a plain one cannot be ended."""
    outcomes = []
    clock = time.perf_counter
    start = clock()
    for function in functions:
        try:
            result = function(event)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a hook raises becomes its outcome
            outcomes.append(Outcome(failure=crash(error), seconds=clock() - start))
            start = clock()
            continue
        now = clock()
        if result is None and now - start < UNNOTICEABLE:
            outcomes.append(QUIET)
        else:
            outcomes.append(_outcome(result, now - start, hooks[len(outcomes)]))
        start = now
    return outcomes


def _outcome(result: Any, seconds: float, hook: Hook) -> Outcome:
    if isinstance(result, Awaitable):
        import asyncio  # slow to import, and most hooks are plain functions

        start, limit = time.perf_counter(), hook.time_limit
        if _is_in_loop():
            return Outcome(failure=_not_here(result), seconds=seconds)
        try:
            result = asyncio.run(_awaited(result, limit))
        except TimeoutError:
            late = Failure("timeout", f"did not finish within {limit:g} s")
            return Outcome(failure=late, seconds=seconds + time.perf_counter() - start)
        except Exception as error:  # noqa: BLE001 - whatever a hook raises becomes its outcome
            return Outcome(failure=crash(error), seconds=seconds + time.perf_counter() - start)
        seconds += time.perf_counter() - start
    return outcome_from(result, seconds)


def outcome_from(result: Any, seconds: float) -> Outcome:
    """What a function returned, as an outcome; whether the effects may count is the engine's business."""
    if result is None:
        return Outcome(seconds=seconds)
    return Outcome(effects=tuple(result) if isinstance(result, list | tuple) else (result,), seconds=seconds)


async def _awaited(result: Any, limit: float) -> Any:
    import asyncio

    async with asyncio.timeout(limit):
        return await result


def _is_in_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _not_here(result: Any) -> Failure:
    if isinstance(result, Coroutine):
        result.close()
    return Failure("crash", "an async hook cannot be waited for inside a running event loop; use `decide_async`")


def crash(error: BaseException) -> Failure:
    """What a function raised, and where."""
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    where = f" ({frame.tb_frame.f_code.co_filename}:{frame.tb_lineno})" if frame else ""
    return Failure("crash", f"{type(error).__name__}: {error}{where}")


def functions_of(hooks: Sequence[Hook]) -> list[Function] | None:
    """The functions to call when all of these hooks run in this process; None when one does not."""
    handlers = [hook.handler for hook in hooks]
    functions = [handler.function for handler in handlers if isinstance(handler, Inline)]
    return functions if len(functions) == len(hooks) else None
