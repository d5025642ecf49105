"""
Python hooks: functions of ours and of an embedding program run here; everybody else's run in a warm child process.

One round trip serves all hooks of an event. The child is ended and replaced when a hook of it runs out of time or
takes the process down, and the hooks after that one still run.
"""

import asyncio
import inspect
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from snell.kit.authoring import Declaration
from snell.machine.json_output import json_bytes
from snell.machine.processes import environment, spare, unspare
from snell.machine.python_worker import decoded, effects_from_data
from snell.model.decision import QUIET, Failure, Outcome
from snell.model.errors import HookError
from snell.model.events import Event
from snell.model.hooks import Hook, Inline, PythonFile

STARTING = 20.0  # a cold interpreter on a busy machine
LOADING = 10.0  # importing somebody's module
UNNOTICEABLE = 1e-4  # seconds below which a silent run is not worth an outcome of its own


Function = Callable[[Event], Any]


class Described(msgspec.Struct, frozen=True):
    """A hook that a file declares."""

    name: str
    line: int
    doc: str
    declared: tuple[Declaration, ...]


class WorkerError(Exception):
    """The child did not answer: it ran out of time, or it is gone."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def run_inline(functions: Sequence[Function], event: Event) -> list[Outcome]:
    """Run functions of this process, one after the other."""
    outcomes = []
    clock = time.perf_counter
    start = clock()
    for function in functions:
        try:
            result = function(event)
        except Exception as error:  # noqa: BLE001 - whatever a hook raises becomes its outcome
            outcomes.append(Outcome(failure=crash(error), seconds=clock() - start))
            start = clock()
            continue
        now = clock()
        if result is None and now - start < UNNOTICEABLE:
            outcomes.append(QUIET)
        else:
            outcomes.append(_outcome(result, now - start))
        start = now
    return outcomes


def _outcome(result: Any, seconds: float) -> Outcome:
    if inspect.isawaitable(result):
        start = time.perf_counter()
        if _is_in_loop():
            return Outcome(failure=_not_here(result), seconds=seconds)
        try:
            result = asyncio.run(_awaited(result))
        except Exception as error:  # noqa: BLE001 - whatever a hook raises becomes its outcome
            return Outcome(failure=crash(error), seconds=seconds + time.perf_counter() - start)
        seconds += time.perf_counter() - start
    return outcome_from(result, seconds)


def outcome_from(result: Any, seconds: float) -> Outcome:
    """What a function returned, as an outcome; whether the effects may count is the engine's business."""
    if result is None:
        return Outcome(seconds=seconds)
    return Outcome(effects=tuple(result) if isinstance(result, list | tuple) else (result,), seconds=seconds)


async def _awaited(result: Any) -> Any:
    return await result


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _not_here(result: Any) -> Failure:
    if inspect.iscoroutine(result):
        result.close()
    return Failure("crash", "an async hook cannot be waited for inside a running event loop; use `decide_async`")


def crash(error: Exception) -> Failure:
    """What a function raised, and where."""
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    where = f" ({frame.tb_frame.f_code.co_filename}:{frame.tb_lineno})" if frame else ""
    return Failure("crash", f"{type(error).__name__}: {error}{where}")


class Worker:
    """The warm child. One request at a time; threads wait for each other."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = dict(os.environ if env is None else env)
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._sources: dict[tuple[str, str], bytes] = {}  # what a replaced child must load again

    def load(self, path: str, digest: str, source: bytes) -> list[Described]:
        """Load a file from these bytes and return what it declares; raises HookError when it does not load."""
        with self._lock:
            try:
                answer = self._load(path, digest, source)
            except WorkerError as error:
                self._end()
                raise HookError(f"loading it failed: {error}", where=path) from None
        if "error" in answer:
            raise HookError(answer["error"])
        older = [key for key in self._sources if key[0] == path][:-1]  # the last good version may still be in force
        for key in older:
            del self._sources[key]
        self._sources[path, digest] = source
        return msgspec.convert(answer["hooks"], list[Described])

    def run(self, hooks: Sequence[Hook], event: Event) -> list[Outcome]:
        """Run hooks of files that were loaded, in order; a hook that hangs or crashes costs only itself."""
        outcomes: list[Outcome] = []
        with self._lock:
            while len(outcomes) < len(hooks):
                self._run_from(hooks[len(outcomes) :], event, outcomes)
        return outcomes

    def close(self) -> None:
        with self._lock:
            self._end()

    def _run_from(self, hooks: Sequence[Hook], event: Event, outcomes: list[Outcome]) -> None:
        done = len(outcomes)
        start = time.monotonic()
        try:
            self._ensure()
            start = time.monotonic()
            request = {"run": [_address(hook) for hook in hooks], "event": msgspec.structs.asdict(event)}
            self._send(request, hooks[0].time_limit)
            for hook in hooks:
                start = time.monotonic()
                outcomes.append(_read_outcome(self._receive(hook.time_limit)))
        except WorkerError as error:
            self._end()
            if len(outcomes) - done < len(hooks):
                outcomes.append(Outcome(failure=Failure(error.kind, str(error)), seconds=time.monotonic() - start))

    def _ensure(self) -> None:
        if self._child and self._child.poll() is None:
            return
        self._start()
        for (path, digest), source in self._sources.items():
            self._load(path, digest, source)

    def _load(self, path: str, digest: str, source: bytes) -> dict[str, Any]:
        if not self._child or self._child.poll() is not None:
            self._start()
        text = source.decode("utf-8", "replace")
        self._send({"load": {"path": path, "digest": digest, "source": text}}, LOADING)
        answer: dict[str, Any] = self._receive(STARTING)
        return answer

    def _start(self) -> None:
        self._end()  # one that is gone has left its pipes behind
        self._buffer = b""
        paths = [path for path in sys.path if path]
        code = f"import sys; sys.path[:] = {paths!r}; from snell.machine.python_worker import main; main()"
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(self._env, {}),
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise WorkerError("launch", f"the worker did not start: {error}") from None
        spare(self._child.pid)
        os.set_blocking(self._child.stdout.fileno(), False)  # type: ignore[union-attr] # a pipe, as asked for above
        os.set_blocking(self._child.stdin.fileno(), False)  # type: ignore[union-attr] # likewise

    def _send(self, request: Any, limit: float) -> None:
        data = memoryview(json_bytes(request) + b"\n")
        pipe = self._child.stdin  # type: ignore[union-attr] # started by the caller
        deadline = time.monotonic() + limit
        while data:
            try:
                written = os.write(pipe.fileno(), data)  # type: ignore[union-attr] # a pipe
                data = data[written:]
            except BlockingIOError:
                _wait(pipe, selectors.EVENT_WRITE, deadline)
            except OSError:
                raise WorkerError("crash", "the process of the Python hooks ended") from None

    def _receive(self, limit: float) -> Any:
        pipe = self._child.stdout  # type: ignore[union-attr] # started by the caller
        deadline = time.monotonic() + limit
        while b"\n" not in self._buffer:
            try:
                chunk = os.read(pipe.fileno(), 1 << 20)  # type: ignore[union-attr] # a pipe
            except BlockingIOError:
                _wait(pipe, selectors.EVENT_READ, deadline)
                continue
            if not chunk:
                raise WorkerError("crash", "the hook took its process down")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            return decoded(line)
        except ValueError:
            raise WorkerError("crash", "the hook wrote where its answer should be") from None

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        with suppress(OSError):
            os.killpg(child.pid, 9)
        unspare(child.pid)
        for pipe in (child.stdin, child.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        with suppress(subprocess.TimeoutExpired):
            child.wait(5)


def _wait(pipe: Any, ready: int, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise WorkerError("timeout", "ran out of time")
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, ready)
        if not selector.select(left):
            raise WorkerError("timeout", "ran out of time")


def _address(hook: Hook) -> tuple[str, str, str]:
    handler = hook.handler
    assert isinstance(handler, PythonFile)
    return handler.path, handler.digest, handler.function


def _read_outcome(answer: dict[str, Any]) -> Outcome:
    seconds = answer.get("seconds", 0.0)
    if "error" in answer:
        return Outcome(failure=Failure("crash", answer["error"]), seconds=seconds)
    return Outcome(effects=effects_from_data(answer["effects"]), seconds=seconds)


def functions_of(hooks: Sequence[Hook]) -> list[Function] | None:
    """The functions to call when all of these hooks run in this process; None when one does not."""
    handlers = [hook.handler for hook in hooks]
    functions = [handler.function for handler in handlers if isinstance(handler, Inline)]
    return functions if len(functions) == len(hooks) else None
