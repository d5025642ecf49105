"""
Write a method once for plain code and for event loops.

Such a method is a coroutine that waits only through its driver. The driver for plain code never waits: the coroutine
runs to its end at once, in the caller's thread, and a tool cannot be interrupted. In an event loop coroutines are
awaited and plain tools run in a thread; a tool that reaches its time limit keeps that thread.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

from msgspec import Struct

from snell.handlers.python import call_function, run_in_thread, wait_in_plain_code, wait_within
from snell.model.decision import Decision
from snell.model.events import Event
from snell.runtime.app import Runtime

S = TypeVar("S")
T = TypeVar("T")
P = ParamSpec("P")
Work = Coroutine[Any, Any, T]


class Driver(Struct, frozen=True):
    waits: bool

    async def decide(self, runtime: Runtime, event: Event) -> Decision:
        """Let the hooks decide an event."""
        return await runtime.decide_async(event) if self.waits else runtime.decide(event)

    async def call(
        self, function: Callable[..., Any], *arguments: Any, blocks: bool = False, limit: float | None = None
    ) -> Any:
        """Call a function, which may be a coroutine or a tool that blocks, with a time limit in seconds."""
        if self.waits and blocks and not inspect.iscoroutinefunction(function):
            result = await wait_within(run_in_thread(function, *arguments), limit)
        else:
            result = call_function(function, arguments)
        if not inspect.isawaitable(result):
            return result
        return await wait_within(result, limit) if self.waits else wait_in_plain_code(result, limit)


PLAIN_CODE, EVENT_LOOP = Driver(waits=False), Driver(waits=True)


def twins(
    method: Callable[Concatenate[S, Driver, P], Work[T]],
) -> tuple[Callable[Concatenate[S, P], T], Callable[Concatenate[S, P], Work[T]]]:
    """Return the method for plain code and the one for event loops."""

    def run_at_once(self: S, *args: P.args, **options: P.kwargs) -> T:
        return _finish(method(self, PLAIN_CODE, *args, **options))

    async def run_in_loop(self: S, *args: P.args, **options: P.kwargs) -> T:
        return await method(self, EVENT_LOOP, *args, **options)

    return _describe(run_at_once, method), _describe(run_in_loop, method)


def context_twins(
    method: Callable[Concatenate[S, Driver, P], AsyncIterator[T]],
) -> tuple[
    Callable[Concatenate[S, P], AbstractContextManager[T]], Callable[Concatenate[S, P], AbstractAsyncContextManager[T]]
]:
    """Do the same with a method that yields once, for `with` and `async with`."""
    make = asynccontextmanager(method)

    @contextmanager
    def enter_at_once(self: S, *args: P.args, **options: P.kwargs) -> Iterator[T]:
        manager = make(self, PLAIN_CODE, *args, **options)
        value = _finish(manager.__aenter__())
        try:
            yield value
        except BaseException as error:
            if not _finish(manager.__aexit__(type(error), error, error.__traceback__)):
                raise
        else:
            _finish(manager.__aexit__(None, None, None))

    def enter_in_loop(self: S, *args: P.args, **options: P.kwargs) -> AbstractAsyncContextManager[T]:
        return make(self, EVENT_LOOP, *args, **options)

    return _describe(enter_at_once, method), _describe(enter_in_loop, method)


def _finish(work: Work[T]) -> T:
    """Run a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise RuntimeError("a method for plain code waited for an event loop")


def _describe(twin: Any, method: Callable[..., Any]) -> Any:
    """Return a twin with the text and the parameters of its method, without the driver."""
    twin.__doc__ = method.__doc__
    parameters = inspect.signature(method).parameters.values()
    twin.__signature__ = inspect.Signature([each for each in parameters if each.name != "driver"])
    return twin
