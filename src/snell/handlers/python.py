"""
Python hooks: a function in a file, and functions of this process (built-in packs, programs that embed Snell).

The functions of files run in a warm child process, see `handlers/worker/client.py`. The runtime runs all functions of
an event together, so this module has no `run`, and the struct `PythonFile` is in `model/hooks.py`.
"""

import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snell.model.context import CancelFlag
from snell.model.decision import Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import DEFAULT_TIMEOUT, Hook, Inline, PythonFile
from snell.settings.handler_types import HandlerEntry, HandlerType
from snell.settings.schema import Key
from snell.system.deadline import SLICE, CancelledError

if TYPE_CHECKING:
    from snell.settings.command_files import NamedFiles

Function = Callable[[Event], Any]


def _parse(entry: HandlerEntry) -> PythonFile:
    path = os.path.join(entry.state.folder or os.sep, os.path.expanduser(entry.values["file"]))
    return PythonFile(os.path.normpath(path), entry.values["function"])


def _files(handler: PythonFile, _root: Path, _env: Mapping[str, str]) -> "NamedFiles":
    from snell.settings.command_files import NamedFiles  # slow to import

    return NamedFiles(files=(handler.path,))


TYPE = HandlerType(
    name="python",
    help="a function in a Python file",
    settings=PythonFile,
    keys=(
        Key("file", "text", "the file, relative to this settings file", is_required=True),
        Key("function", "text", "the function's name", is_required=True),
    ),
    default_timeout=DEFAULT_TIMEOUT,
    identified_by=("file", "function"),
    parse=_parse,
    files=_files,
)


def finish_result(result: Any, seconds: float, hook: Hook) -> Outcome:
    """Return the outcome of a function that returned something: a coroutine is run until its time limit."""
    if isinstance(result, Awaitable):
        import asyncio  # slow to import, and most hooks are plain functions

        start, limit = time.perf_counter(), hook.time_limit
        if _is_in_loop():
            return Outcome(failure=_failure_in_loop(result), seconds=seconds)
        try:
            result = asyncio.run(_wait(result, limit))
        except TimeoutError:
            late = Failure("timeout", f"did not finish within {limit:g} s")
            return Outcome(failure=late, seconds=seconds + time.perf_counter() - start)
        except Exception as error:  # noqa: BLE001 - whatever a hook raises becomes its outcome
            return Outcome(failure=crash(error), seconds=seconds + time.perf_counter() - start)
        seconds += time.perf_counter() - start
    return outcome_from(result, seconds)


def outcome_from(result: Any, seconds: float) -> Outcome:
    """Return what a function returned as an outcome; the engine decides which effects are permitted."""
    if result is None:
        return Outcome(seconds=seconds)
    return Outcome(effects=tuple(result) if isinstance(result, list | tuple) else (result,), seconds=seconds)


async def await_function(hook: Hook, event: Event, cancel: CancelFlag | None) -> Outcome:
    """Run a function in an event loop, and await what it returns."""
    import asyncio

    handler = hook.handler
    assert isinstance(handler, Inline)
    start = time.perf_counter()
    try:
        result = run_in_thread(handler.function, event) if handler.waits else handler.function(event)
        if isinstance(result, Awaitable):
            async with asyncio.timeout(hook.time_limit):
                while isinstance(result, Awaitable):  # what ran in a thread may have made a coroutine
                    result = await (_unless_cancelled(cancel, result) if cancel else result)
    except TimeoutError:
        return Outcome(failure=Failure("timeout", f"did not finish within {hook.time_limit:g} s"))
    except CancelledError:
        return Outcome(failure=Failure("cancelled", "was cancelled"), seconds=time.perf_counter() - start)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong becomes an outcome
        return Outcome(failure=crash(error), seconds=time.perf_counter() - start)
    return outcome_from(result, time.perf_counter() - start)


async def _unless_cancelled(cancel: CancelFlag, result: Awaitable[Any]) -> Any:
    """Await a coroutine until any thread sets the flag."""
    import asyncio

    task = asyncio.ensure_future(result)
    try:
        while not task.done():
            if cancel.is_set():
                raise CancelledError
            await asyncio.wait((task,), timeout=SLICE)
        return task.result()
    finally:
        task.cancel()


async def run_in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a blocking function in a thread and await it. It cannot be ended: a cancelled caller leaves it behind."""
    import asyncio

    return await asyncio.to_thread(_call, function, arguments)


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except StopIteration as error:  # no future can hold it, and its caller would wait forever
        raise RuntimeError(str(error) or "StopIteration") from error


async def _wait(result: Any, limit: float) -> Any:
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


def _failure_in_loop(result: Any) -> Failure:
    if isinstance(result, Coroutine):
        result.close()
    return Failure("crash", "an async hook cannot be waited for inside a running event loop; use `decide_async`")


def crash(error: BaseException) -> Failure:
    """Return a failure that names the exception and the line that raised it."""
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    where = f" ({frame.tb_frame.f_code.co_filename}:{frame.tb_lineno})" if frame else ""
    return Failure("crash", f"{type(error).__name__}: {error}{where}")


def functions_of(hooks: Sequence[Hook]) -> list[Function] | None:
    """Return the functions of hooks that all run in this process; None when one of them does not."""
    handlers = [hook.handler for hook in hooks]
    functions = [handler.function for handler in handlers if isinstance(handler, Inline)]
    return functions if len(functions) == len(hooks) else None
