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

from msgspec.structs import replace

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


def finish_result(result: Any, seconds: float, hook: Hook, event: Event) -> Outcome:
    """Return the outcome of a function that returned something: a coroutine is run until its time limit."""
    if not isinstance(result, Awaitable):
        return outcome_from(result, seconds, event)
    start, failure = time.perf_counter(), None
    try:
        result = wait_in_plain_code(result, hook.time_limit)
    except OutOfTimeError:
        failure = Failure("timeout", f"did not finish within {hook.time_limit:g} s")
    except InLoopError:
        why = "an async hook cannot be waited for inside a running event loop; use `decide_async`"
        return Outcome(failure=Failure("crash", why), seconds=seconds)
    except Exception as error:  # noqa: BLE001 - any error of a hook becomes its outcome
        failure = crash(error)
    seconds += time.perf_counter() - start
    return Outcome(failure=failure, seconds=seconds) if failure else outcome_from(result, seconds, event)


def outcome_from(result: Any, seconds: float, event: Event) -> Outcome:
    """Return what a function returned as an outcome; the engine decides which effects are permitted."""
    if result is None:
        return Outcome(seconds=seconds)
    if isinstance(result, str | Mapping):
        from snell.engine.hook_output import is_answer, outcome_of_answer  # slow to import, and most return effects

        if is_answer(result):
            return replace(outcome_of_answer(result, event), seconds=seconds)
    return Outcome(effects=tuple(result) if isinstance(result, list | tuple) else (result,), seconds=seconds)


async def await_function(hook: Hook, event: Event, cancel: CancelFlag | None) -> Outcome:
    """Run a function in an event loop, and await what it returns."""
    handler = hook.handler
    assert isinstance(handler, Inline)
    start = time.perf_counter()
    try:
        result = run_in_thread(handler.function, event) if handler.waits else handler.function(event)
        if isinstance(result, Awaitable):
            result = await wait_within(_await_all(result, cancel), hook.time_limit)
    except OutOfTimeError:
        return Outcome(failure=Failure("timeout", f"did not finish within {hook.time_limit:g} s"))
    except CancelledError:
        return Outcome(failure=Failure("cancelled", "was cancelled"), seconds=time.perf_counter() - start)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong becomes an outcome
        return Outcome(failure=crash(error), seconds=time.perf_counter() - start)
    return outcome_from(result, time.perf_counter() - start, event)


async def _await_all(result: Any, cancel: CancelFlag | None) -> Any:
    while isinstance(result, Awaitable):  # what ran in a thread may have made a coroutine
        result = await (_unless_cancelled(cancel, result) if cancel else result)
    return result


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

    return await asyncio.to_thread(call_function, function, arguments)


def call_function(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a function; no future and no coroutine can hold a StopIteration, and its caller would wait forever."""
    try:
        return function(*arguments)
    except StopIteration as error:
        raise RuntimeError(str(error) or "StopIteration") from error


class OutOfTimeError(Exception):
    """A coroutine reached its time limit; a TimeoutError is its own."""


class InLoopError(TypeError):
    """A coroutine cannot be waited for inside a running event loop."""


async def wait_within(result: Awaitable[Any], limit: float | None) -> Any:
    """Await a coroutine for at most this many seconds. Raises OutOfTimeError."""
    import asyncio

    limited = asyncio.timeout(limit)
    try:
        async with limited:
            return await result
    except TimeoutError:
        if limited.expired():
            raise OutOfTimeError from None
        raise


def wait_in_plain_code(result: Awaitable[Any], limit: float | None) -> Any:
    """Do the same outside an event loop. Raises InLoopError in one."""
    import asyncio  # slow to import, and most hooks are plain functions

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait_within(result, limit))
    if isinstance(result, Coroutine):
        result.close()
    raise InLoopError("a coroutine cannot be waited for inside a running event loop; use `run_async`")


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
    functions = [load_function(handler.function) for handler in handlers if isinstance(handler, Inline)]
    return functions if len(functions) == len(hooks) else None


def load_function(function: Function) -> Function:
    """Return the function itself where this one only loads it."""
    load = getattr(function, "load", None)
    return load() if load else function
