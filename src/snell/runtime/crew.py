"""
The crew: runs hooks and turns whatever happens into outcomes. This is one of the two nets of the house.

Functions of this process run at once, in order; everything slower runs beside it in threads, so that several commands
cost as much as the slowest. Outcomes come back in the order of the hooks.
"""

import asyncio
import inspect
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy

from snell.engine.book import MEMO_LIMIT
from snell.handlers import HANDLERS
from snell.handlers.command import Surroundings, run_command
from snell.handlers.python import Function, crash, functions_of, outcome_from, run_inline
from snell.machine.worker import Worker
from snell.model.decision import Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Broken, Hook, Inline, PythonFile

AT_ONCE = 4 * (os.cpu_count() or 2)

PATIENCE = 0.001  # seconds for which a whole daemon may wait for a quick hook; handing over to a thread costs a tenth

Wait = Callable[[], Sequence[Outcome]]
Job = Callable[[], list[Outcome]]


class Crew:
    """Owns the threads and the warm child; `close` ends both. `on` gives a crew for one event's surroundings."""

    def __init__(self, worker: Worker | None = None, around: Surroundings | None = None) -> None:
        self.worker = worker or Worker()
        self.around = around or Surroundings(env=dict(os.environ))
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._later_worker = self.worker.twin()  # has no child until it is needed
        self._functions: dict[int, tuple[Sequence[Hook], list[Function] | None]] = {}

    def run(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]:
        """Run hooks together and wait for all."""
        functions = self._known(hooks)[1]
        return self._run_mixed(hooks, event) if functions is None else run_inline(functions, event, hooks)

    def run_at_once(self, hooks: tuple[Hook, ...], event: Event) -> Sequence[Outcome] | Wait:
        """Outcomes, if they can be had without anybody else waiting; otherwise what a thread has to wait for."""
        functions = self._known(hooks)[1]
        if functions is not None:
            return run_inline(functions, event, hooks)
        if all(type(hook.handler) is PythonFile for hook in hooks):
            flight = self.worker.begin(hooks, event)
            if flight:
                return flight.finish() if flight.is_done_within(PATIENCE) else flight.finish
        return lambda: self._run_mixed(hooks, event)

    async def run_async(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]:
        """The same inside an event loop: coroutines are awaited, what would block runs in threads."""
        inline = [hook for hook in hooks if isinstance(hook.handler, Inline)]
        slow = [hook for hook in hooks if not isinstance(hook.handler, Inline)]
        loop = asyncio.get_running_loop()
        # Not our own threads: this one waits for those, and all of them waiting would be a deadlock.
        others = loop.run_in_executor(None, self.run, slow, event) if slow else None
        done = dict(zip(inline, await asyncio.gather(*(_awaited(hook, event) for hook in inline)), strict=True))
        if others:
            done.update(zip(slow, await others, strict=True))
        return [done[hook] for hook in hooks]

    def run_later(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]:
        """Run hooks that nobody waits for, with a child of their own, so that they hold up nobody who judges."""
        other = copy(self)
        other.worker = self._later_worker
        return other.run(hooks, event)

    def on(self, around: Surroundings) -> "Crew":
        """The same crew for one event, so that two events at a time never see each other's surroundings."""
        other = copy(self)
        other.around = around
        return other

    def later(self, job: Callable[[], None]) -> "Future[None]":
        """Do something when the answer has left."""
        return self._threads("later", 2).submit(job)

    def close(self) -> None:
        """Wait for what is still to be done, then end the threads and the child."""
        for name in ("later", "hooks"):
            if pool := self._pools.pop(name, None):
                pool.shutdown(wait=True)
        self.worker.close()
        self._later_worker.close()

    def _run_mixed(self, hooks: Sequence[Hook], event: Event) -> list[Outcome]:
        groups = _grouped(hooks)
        jobs = [self._job(group, event) for group in groups]
        waiting = [self._threads().submit(job) for job in jobs[1:]]  # this thread takes the first one itself
        results = [jobs[0](), *(each.result() for each in waiting)]
        done: dict[Hook, Outcome] = {}
        for group, outcomes in zip(groups, results, strict=True):
            done.update(zip(group, outcomes, strict=True))
        return [done[hook] for hook in hooks]

    def _known(self, hooks: Sequence[Hook]) -> tuple[Sequence[Hook], list[Function] | None]:
        """The book hands out the same tuple for the same kind of event, so this is worked out once for each."""
        known = self._functions.get(id(hooks))
        if known is None or known[0] is not hooks:
            if len(self._functions) >= MEMO_LIMIT:
                self._functions.clear()
            known = self._functions[id(hooks)] = (hooks, functions_of(hooks))
        return known

    def _job(self, group: list[Hook], event: Event) -> Job:
        handler = group[0].handler
        if isinstance(handler, Inline):
            return lambda: run_inline(functions_of(group) or (), event, group)
        if isinstance(handler, PythonFile):
            return lambda: self.worker.run(group, event)
        return lambda: [self._run_one(group[0], event)]

    def _run_one(self, hook: Hook, event: Event) -> Outcome:
        if isinstance(hook.handler, Broken):
            return Outcome(failure=Failure("launch", hook.handler.reason))
        if hook.handler.kind not in HANDLERS:
            return Outcome(failure=Failure("launch", f"this version cannot run `{hook.handler.kind}` hooks"))
        try:
            return run_command(hook, event, self.around)
        except Exception as error:  # noqa: BLE001 - one of the two nets: whatever goes wrong is an outcome
            return Outcome(failure=Failure("crash", f"running it failed: {type(error).__name__}: {error}"))

    def _threads(self, name: str = "hooks", number: int = AT_ONCE) -> ThreadPoolExecutor:
        pool = self._pools.get(name)
        # Several threads may come here at once; a pool that nobody keeps has not started any thread yet.
        return pool or self._pools.setdefault(name, ThreadPoolExecutor(number, thread_name_prefix=f"snell-{name}"))


def _grouped(hooks: Sequence[Hook]) -> list[list[Hook]]:
    """What runs beside each other: all functions of ours, all of the child's, and each other hook by itself."""
    groups: dict[object, list[Hook]] = {}
    for hook in hooks:
        shared = isinstance(hook.handler, Inline | PythonFile)
        groups.setdefault(type(hook.handler) if shared else hook, []).append(hook)
    return list(groups.values())


async def _awaited(hook: Hook, event: Event) -> Outcome:
    handler = hook.handler
    assert isinstance(handler, Inline)
    start = time.perf_counter()
    try:
        result = handler.function(event)
        if inspect.isawaitable(result):
            async with asyncio.timeout(hook.time_limit):
                result = await result
    except TimeoutError:
        return Outcome(failure=Failure("timeout", f"did not finish within {hook.time_limit:g} s"))
    except Exception as error:  # noqa: BLE001 - one of the two nets: whatever goes wrong is an outcome
        return Outcome(failure=crash(error), seconds=time.perf_counter() - start)
    return outcome_from(result, time.perf_counter() - start)
