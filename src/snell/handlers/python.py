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

from snell.handlers.worker.child_main import UNNOTICEABLE
from snell.model.decision import QUIET, Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import DEFAULT_TIMEOUT, Hook, Inline, PythonFile
from snell.settings.handler_types import HandlerEntry, HandlerType
from snell.settings.schema import Key

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


def run_inline(functions: Sequence[Function], event: Event, hooks: Sequence[Hook]) -> list[Outcome]:
    """Run functions of this process one after the other. Only an async function can be stopped at its time limit."""
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
        if result is None:
            outcomes.append(QUIET if now - start < UNNOTICEABLE else Outcome(seconds=now - start))
        else:
            outcomes.append(_outcome(result, now - start, hooks[len(outcomes)]))
        start = now
    return outcomes


def _outcome(result: Any, seconds: float, hook: Hook) -> Outcome:
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
