"""
The crew: runs hooks and turns whatever happens into outcomes. This is one of the two nets of the house.

Functions of this process run at once, in order; everything slower runs beside it in threads, so that several commands
cost as much as the slowest. Outcomes come back in the order of the hooks.
"""

import os
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from snell.clients.emulation import emulation_for
from snell.handlers.python import Function, crash, functions_of, outcome_from, run_inline
from snell.handlers.worker.client import Worker, WorkerCall
from snell.model.decision import Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Broken, Hook, Inline, PythonFile
from snell.model.progress import Progress
from snell.sdk.pack_context import PACK_CONTEXT, PackContext
from snell.settings.handler_types import handler_module
from snell.system.deadline import SLICE, CancelledError
from snell.system.handler_context import AROUND, HandlerContext

# Slow to import, and a daemon's first answer mostly needs none of them.
if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future, ThreadPoolExecutor

AT_ONCE = 4 * (os.cpu_count() or 2)
CALLS_AT_ONCE = 64  # hooks that wait for somebody else's machine cost a thread and nothing more
IN_BACKGROUND = 32  # asynchronous hooks at a time; each may take its time, and the others should not wait for it
SORTED = 128  # kinds of events for which it is remembered where their hooks run

LAST_WATCHERS = 10.0  # seconds after which a process that ends leaves watchers alone that have not begun
PATIENCE = 0.003  # seconds for which a whole daemon may wait for a quick hook; a thread would cost more than that

Wait = Callable[[], Sequence[Outcome]]
Job = Callable[[], list[Outcome]]


class ExecutionPlan(Struct, frozen=True):
    """Hooks by where they run."""

    hooks: Sequence[Hook]
    inline: tuple[Hook, ...]
    functions: tuple[Function, ...]
    files: tuple[Hook, ...]
    order: tuple[int, ...]  # where the outcome of each hook stands: first those of the functions, then of the files
    batched: tuple[Hook, ...]  # functions of this process that only write rows
    background: tuple[tuple[Hook, ...], ...]  # asynchronous ones, each by itself
    others: tuple[Hook, ...]
    unhurried: tuple[Hook, ...]  # the batched and the others, in their order
    is_quick: bool  # all of them are functions, here or in the warm child, that do not wait for anybody


class PendingBatch(Struct, frozen=True):
    """Hooks that are running in the child, and what ours have said meanwhile. Whoever gets one must `finish` it."""

    flight: WorkerCall
    known: ExecutionPlan
    ours: Sequence[Outcome]

    def finish(self) -> Sequence[Outcome]:
        theirs = self.flight.finish()
        if not self.ours:
            return theirs
        both = (*self.ours, *theirs)
        return [both[place] for place in self.known.order]


class Executor:
    """Owns the threads and the warm child; `close` ends both. `on` gives a crew for one event's surroundings."""

    def __init__(self, worker: Worker | None = None, around: HandlerContext | None = None) -> None:
        self.worker = worker or Worker()
        self.around = replace(around or HandlerContext(env=dict(os.environ)), emulation=emulation_for)
        self.here = PackContext()
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._late_jobs: set[Future[None]] = set()  # like the pools, shared by all copies
        self._background_jobs: set[Future[None]] = set()
        self._later_worker = self.worker.twin()  # has no child until it is needed
        self._background_worker = self.worker.twin()
        self._large_worker = self.worker.twin()
        self._sorted: dict[int, ExecutionPlan] = {}
        self._is_for_large = False
        self.deadline = PATIENCE

    def run(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]:
        """Run hooks together and wait for all."""
        known = self._known(hooks)
        if len(known.inline) < len(hooks):
            return self._run_mixed(hooks, event)
        self._enter()
        return run_inline(known.functions, event, hooks)

    def run_at_once(self, hooks: tuple[Hook, ...], event: Event) -> Sequence[Outcome] | Wait:
        """Outcomes, if they can be had without anybody else waiting; otherwise what a thread has to wait for."""
        known = self._known(hooks)
        if not known.is_quick or self._is_for_large:
            return lambda: self.run(hooks, event)
        flight = self.worker.begin(known.files, event) if known.files else None
        if known.files and not flight:
            return lambda: self._run_mixed(hooks, event)
        self._enter()
        ours = run_inline(known.functions, event, known.inline) if known.inline else []  # while the child is at it
        if not flight:
            return ours
        landing = PendingBatch(flight, known, ours)
        return landing.finish() if flight.is_done_within(self.deadline) else landing.finish

    async def run_async(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]:
        """The same inside an event loop: coroutines are awaited, what would block runs in threads."""
        import asyncio

        inline = [hook for hook in hooks if isinstance(hook.handler, Inline)]
        slow = [hook for hook in hooks if not isinstance(hook.handler, Inline)]
        self._enter()
        cancel = self.around.cancel or threading.Event()
        others = self._beside(slow, event, cancel) if slow else None
        try:
            outcomes = await asyncio.gather(*(self._awaited(hook, event) for hook in inline))
            done = dict(zip(inline, outcomes, strict=True))
            if others:
                done.update(zip(slow, await others, strict=True))
        except asyncio.CancelledError:
            cancel.set()  # or programs and servers would be waited for, in a thread, by nobody
            raise
        return [done[hook] for hook in hooks]

    def _beside(self, hooks: list[Hook], event: Event, cancel: threading.Event) -> "asyncio.Future[Sequence[Outcome]]":
        import asyncio

        executor = self.for_event(replace(self.around, cancel=cancel), self.here)
        # Not our own threads: this one waits for those, and all of them waiting would be a deadlock.
        return asyncio.get_running_loop().run_in_executor(None, executor.run, hooks, event)

    def run_later(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]:
        """Run hooks that nobody waits for, with a child of their own, so that they hold up nobody who judges."""
        return self._with(self._later_worker).run(hooks, event)

    def run_in_background(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]:
        """The same for hooks that may take long: with another child, so that they hold up no watcher either."""
        return self._with(self._background_worker).run(hooks, event)

    def plan(self, hooks: tuple[Hook, ...]) -> ExecutionPlan:
        """Hooks that nobody waits for: those that only write rows, asynchronous ones, and all others."""
        return self._known(hooks)

    def for_large(self) -> "Executor":
        """The same crew for a large event: nothing about it is quick, and its child takes long to read it."""
        other = self._with(self._large_worker)
        other._is_for_large = True
        return other

    def for_event(self, around: HandlerContext, here: PackContext | None = None) -> "Executor":
        """The same crew for one event, so that two events at a time never see each other's surroundings."""
        other = object.__new__(type(self))  # every event needs one, and `copy` takes its time
        other.__dict__.update(self.__dict__)
        other.around = around
        other.here = here or self.here
        return other

    def later(self, job: Callable[[], None]) -> "Future[None]":
        """Do something when the answer has left."""
        return _kept(self._threads("later", 2).submit(job), self._late_jobs)

    def in_background(self, job: Callable[[], None]) -> "Future[None]":
        """The same for something that may take long, and that nothing else is to wait for."""
        return _kept(self._threads("background", IN_BACKGROUND).submit(job), self._background_jobs)

    @property
    def backlog(self) -> int:
        """Jobs for later that are not done yet. Those in the background count when they have to wait for their turn."""
        return len(self._late_jobs) + max(0, len(self._background_jobs) - IN_BACKGROUND)

    def close(self) -> None:
        """Wait for what is still to be done, for watchers that have not begun only so long; then end the threads."""
        later = [pool for name in ("later", "background") if (pool := self._pools.pop(name, None))]
        if later:
            from concurrent.futures import wait

            wait((*self._late_jobs, *self._background_jobs), timeout=LAST_WATCHERS)
        for pool in later:
            pool.shutdown(wait=True, cancel_futures=True)
        for name in ("hooks", "calls"):
            if pool := self._pools.pop(name, None):
                pool.shutdown(wait=True)
        self.worker.close()
        self._later_worker.close()
        self._background_worker.close()
        self._large_worker.close()

    def _run_mixed(self, hooks: Sequence[Hook], event: Event) -> list[Outcome]:
        groups = _grouped(hooks)
        jobs = [self._told(group, self._job(group, event)) for group in groups]
        # This thread takes the first one itself.
        waiting = [self._pool_for(group).submit(job) for group, job in zip(groups[1:], jobs[1:], strict=True)]
        results = [jobs[0](), *(each.result() for each in waiting)]
        done: dict[Hook, Outcome] = {}
        for group, outcomes in zip(groups, results, strict=True):
            done.update(zip(group, outcomes, strict=True))
        return [done[hook] for hook in hooks]

    def _with(self, worker: Worker) -> "Executor":
        other = copy(self)
        other.worker = worker
        return other

    def _enter(self) -> None:
        """Let the functions of built-in packs find the place they run in."""
        PACK_CONTEXT.set(self.here)
        AROUND.set(self.around)

    def _known(self, hooks: Sequence[Hook]) -> "ExecutionPlan":
        """The book hands out the same tuple for the same kind of event, so this is worked out once for each."""
        known = self._sorted.get(id(hooks))
        if known is None or known.hooks is not hooks:
            if len(self._sorted) >= SORTED:
                self._sorted.clear()
            known = self._sorted[id(hooks)] = _sorted(hooks)
        return known

    def _job(self, group: list[Hook], event: Event) -> Job:
        handler = group[0].handler
        if isinstance(handler, Inline):
            return lambda: self._run_functions(group, event)
        if isinstance(handler, PythonFile):
            return lambda: self.worker.run(group, event)
        return lambda: [self._run_one(group[0], event)]

    def _run_functions(self, hooks: list[Hook], event: Event) -> list[Outcome]:
        self._enter()  # in the thread that runs them
        return run_inline(functions_of(hooks) or (), event, hooks)

    def _told(self, group: list[Hook], job: Job) -> Job:
        """The job, with its start and end shown to whoever watches."""
        show = self.around.progress
        if show is None:
            return job

        def told() -> list[Outcome]:
            for hook in group:
                show(Progress("started", hook.id, hook.status_message))
            outcomes = job()
            for hook, outcome in zip(group, outcomes, strict=True):
                show(Progress("completed", hook.id, hook.status_message, outcome))
            return outcomes

        return told

    async def _awaited(self, hook: Hook, event: Event) -> Outcome:
        show = self.around.progress
        if show:
            show(Progress("started", hook.id, hook.status_message))
        outcome = await _awaited(hook, event, self.around.cancel)
        if show:
            show(Progress("completed", hook.id, hook.status_message, outcome))
        return outcome

    def _run_one(self, hook: Hook, event: Event) -> Outcome:
        if isinstance(hook.handler, Broken):
            return Outcome(failure=Failure("launch", hook.handler.reason))
        try:
            module = handler_module(hook.handler.kind)
            if module is None:
                return Outcome(failure=Failure("launch", f"there is no handler for `{hook.handler.kind}` hooks"))
            return module.run(hook, event, self.around)
        except Exception as error:  # noqa: BLE001 - one of the two nets: whatever goes wrong is an outcome
            return Outcome(failure=Failure("crash", f"running it failed: {type(error).__name__}: {error}"))

    def _pool_for(self, group: list[Hook]) -> "ThreadPoolExecutor":
        module = handler_module(group[0].handler.kind)
        waits = module is not None and module.TYPE.waits_for_network
        return self._threads("calls", CALLS_AT_ONCE) if waits else self._threads()

    def _threads(self, name: str = "hooks", number: int = AT_ONCE) -> "ThreadPoolExecutor":
        from concurrent.futures import ThreadPoolExecutor

        pool = self._pools.get(name)
        # Several threads may come here at once; a pool that nobody keeps has not started any thread yet.
        return pool or self._pools.setdefault(name, ThreadPoolExecutor(number, thread_name_prefix=f"snell-{name}"))


def _sorted(hooks: Sequence[Hook]) -> ExecutionPlan:
    inline = tuple(hook for hook in hooks if isinstance(hook.handler, Inline))
    files = tuple(hook for hook in hooks if isinstance(hook.handler, PythonFile))
    batched = tuple(hook for hook in inline if isinstance(hook.handler, Inline) and hook.handler.batches)
    background = tuple((hook,) for hook in hooks if hook.is_async and hook not in batched)
    unhurried = tuple(hook for hook in hooks if (hook,) not in background)
    others = tuple(hook for hook in unhurried if hook not in batched)
    waits = any(isinstance(hook.handler, Inline) and hook.handler.waits for hook in inline)
    is_quick = len(inline) + len(files) == len(hooks) and not waits
    places = {hook: place for place, hook in enumerate((*inline, *files))}
    order = tuple(places[hook] for hook in hooks) if is_quick else ()
    return ExecutionPlan(
        hooks=hooks,
        inline=inline,
        functions=tuple(functions_of(inline) or ()),
        files=files,
        order=order,
        batched=batched,
        background=background,
        others=others,
        unhurried=unhurried,
        is_quick=is_quick,
    )


def _kept(future: "Future[None]", jobs: "set[Future[None]]") -> "Future[None]":
    """The future, which is among these jobs until it is done."""
    jobs.add(future)
    future.add_done_callback(jobs.discard)
    return future


def _grouped(hooks: Sequence[Hook]) -> list[list[Hook]]:
    """What runs beside each other: all functions of ours, all of the child's, and each other hook by itself."""
    groups: dict[object, list[Hook]] = {}
    for hook in hooks:
        shared = isinstance(hook.handler, Inline | PythonFile)
        groups.setdefault(type(hook.handler) if shared else hook, []).append(hook)
    return list(groups.values())


async def _awaited(hook: Hook, event: Event, cancel: threading.Event | None) -> Outcome:
    import asyncio

    from snell.runtime.threads import run_in_thread

    handler = hook.handler
    assert isinstance(handler, Inline)
    start = time.perf_counter()
    try:
        result = run_in_thread(handler.function, event) if handler.waits else handler.function(event)
        if isinstance(result, Awaitable):
            async with asyncio.timeout(hook.time_limit):
                while isinstance(result, Awaitable):  # what ran in a thread may have made a coroutine
                    result = await (_unless(cancel, result) if cancel else result)
    except TimeoutError:
        return Outcome(failure=Failure("timeout", f"did not finish within {hook.time_limit:g} s"))
    except CancelledError:
        return Outcome(failure=Failure("cancelled", "was cancelled"), seconds=time.perf_counter() - start)
    except Exception as error:  # noqa: BLE001 - one of the two nets: whatever goes wrong is an outcome
        return Outcome(failure=crash(error), seconds=time.perf_counter() - start)
    return outcome_from(result, time.perf_counter() - start)


async def _unless(cancel: threading.Event, result: Awaitable[Any]) -> Any:
    """Wait for a coroutine until it is cancelled from any thread."""
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
