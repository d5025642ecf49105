"""
Runs hooks and turns whatever happens into outcomes: no exception of a hook gets past this file.

Functions of this process run at once, in order. Everything slower runs in threads, so that several commands take as
long as the slowest. Outcomes come back in the order of the hooks.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from snell.handlers.python import Function, await_function, crash, finish_result, functions_of
from snell.handlers.worker.child_main import UNNOTICEABLE
from snell.handlers.worker.client import Worker, WorkerCall
from snell.model.context import CURRENT_CONTEXT, Context, Progress
from snell.model.decision import QUIET, Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Broken, Hook, Inline, PythonFile
from snell.settings.handler_types import handler_module

# Slow to import, and the first reply of a daemon mostly needs none of them.
if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

THREADS = 4 * (os.cpu_count() or 2)
NETWORK_THREADS = 64  # hooks that wait for another machine cost a thread and nothing more
# Jobs after the reply at a time; those in the background may take long, and the others should not wait for them.
LATER_THREADS = {"later": 2, "background": 32}
PLANS = 128  # kinds of events whose execution plan is remembered

CLOSE_SECONDS = 10.0  # after which a process that ends drops watchers that have not begun
QUICK_SECONDS = 0.003  # for which the daemon's loop may wait for a hook; a thread would cost more than that

Wait = Callable[[], Sequence[Outcome]]
Job = Callable[[], Sequence[Outcome]]


class ExecutionPlan(Struct, frozen=True):
    """Hooks by where they run."""

    hooks: Sequence[Hook]
    inline: tuple[Hook, ...]
    functions: tuple[Function, ...]
    files: tuple[Hook, ...]
    order: tuple[int, ...]  # the index of each hook's outcome: first those of the functions, then of the files
    batched: tuple[Hook, ...]  # functions of this process that only write rows
    background: tuple[tuple[Hook, ...], ...]  # asynchronous ones, each by itself
    others: tuple[Hook, ...]
    foreground: tuple[Hook, ...]  # the batched and the others, in their order
    is_inline: bool  # all are functions of this process
    is_quick: bool  # all are functions, here or in the worker process, that wait for nothing


class PendingBatch(Struct, frozen=True):
    """Hooks that run in the worker process, and the outcomes of ours. INVARIANT: its owner calls `finish`."""

    call: WorkerCall
    plan: ExecutionPlan
    ours: Sequence[Outcome]

    def finish(self) -> Sequence[Outcome]:
        theirs = self.call.worker.finish(self.call)
        if not self.ours:
            return theirs
        both = (*self.ours, *theirs)
        return [both[index] for index in self.plan.order]


class Executor:
    """Owns the threads and the worker processes; `close` ends both."""

    def __init__(self, worker: Worker | None = None) -> None:
        self.worker = worker or Worker()
        self.quick_seconds = QUICK_SECONDS
        # Watchers must delay no judge, and hooks that take long no watcher. A worker has no process until it is needed.
        self._workers = {name: self.worker.twin() for name in ("later", "background", "large")}
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._jobs: dict[str, set[Future[None]]] = {name: set() for name in LATER_THREADS}
        self._plans: dict[int, ExecutionPlan] = {}

    def run(self, hooks: Sequence[Hook], event: Event, context: Context, worker: str = "") -> Sequence[Outcome]:
        """Run hooks together and wait for all; `worker` is the process for Python files: `later` or `background`."""
        plan = self._plans.get(id(hooks))
        if plan is None or plan.hooks is not hooks:
            plan = self.plan(hooks)
        if not plan.is_inline:
            named = worker or ("large" if context.is_large else "")
            return self._run_mixed(hooks, event, context, self._workers.get(named, self.worker))
        CURRENT_CONTEXT.set(context)
        return _run_inline(plan.functions, event, hooks)

    def run_at_once(self, hooks: tuple[Hook, ...], event: Event, context: Context) -> Sequence[Outcome] | Wait:
        """Return outcomes if the daemon's loop can wait for them, else what a thread has to wait for."""
        plan = self.plan(hooks)
        if not plan.is_quick or context.is_large:
            if self.quick_seconds > QUICK_SECONDS and plan.is_inline:
                return self._run_first(hooks, event, context)
            return lambda: self.run(hooks, event, context)
        call = self.worker.begin(plan.files, event) if plan.files else None
        if plan.files and not call:
            return lambda: self._run_mixed(hooks, event, context, self.worker)
        CURRENT_CONTEXT.set(context)
        ours = _run_inline(plan.functions, event, plan.inline) if plan.inline else []  # while the worker runs its own
        if not call:
            return ours
        batch = PendingBatch(call, plan, ours)
        return batch.finish() if call.child.has_finished(self.quick_seconds) else batch.finish

    def _run_first(self, hooks: tuple[Hook, ...], event: Event, context: Context) -> Sequence[Outcome] | Wait:
        """Run hooks that may wait before there is a loop: importing one takes longer than most of them."""
        done: list[Sequence[Outcome]] = []
        thread = threading.Thread(target=lambda: done.append(self.run(hooks, event, context)), daemon=True)
        thread.start()
        thread.join(self.quick_seconds)

        def wait() -> Sequence[Outcome]:
            thread.join()
            return done[0]

        return done[0] if done else wait

    async def run_async(self, hooks: Sequence[Hook], event: Event, context: Context) -> Sequence[Outcome]:
        """Run hooks in an event loop: coroutines are awaited, what would block runs in threads."""
        import asyncio

        inline = [hook for hook in hooks if isinstance(hook.handler, Inline)]
        slow = [hook for hook in hooks if not isinstance(hook.handler, Inline)]
        CURRENT_CONTEXT.set(context)
        cancel = context.cancel or threading.Event()
        others = None
        if slow:
            # Not our own threads: this one waits for those, and all of them waiting would be a deadlock.
            run = asyncio.get_running_loop().run_in_executor
            others = run(None, self.run, slow, event, replace(context, cancel=cancel))
        try:
            outcomes = await asyncio.gather(*(_await_hook(hook, event, context) for hook in inline))
            done = dict(zip(inline, outcomes, strict=True))
            if others:
                done.update(zip(slow, await others, strict=True))
        except asyncio.CancelledError:
            cancel.set()  # or a thread would go on waiting for programs and servers
            raise
        return [done[hook] for hook in hooks]

    def plan(self, hooks: Sequence[Hook]) -> ExecutionPlan:
        """Return the plan for these hooks; the registry returns the same tuple for the same kind of event."""
        known = self._plans.get(id(hooks))
        if known is None or known.hooks is not hooks:
            if len(self._plans) >= PLANS:
                self._plans.clear()
            known = self._plans[id(hooks)] = _plan(hooks)
        return known

    def later(self, job: Callable[[], None], pool: str = "later") -> "Future[None]":
        """Run a job after the reply; in the pool `background` it may take long, and no other job waits for it."""
        future = self._threads(pool, LATER_THREADS[pool]).submit(job)
        self._jobs[pool].add(future)
        future.add_done_callback(self._jobs[pool].discard)
        return future

    @property
    def backlog(self) -> int:
        """Return how many late jobs are not done; those in the background count when all threads are busy."""
        return len(self._jobs["later"]) + max(0, len(self._jobs["background"]) - LATER_THREADS["background"])

    def close(self) -> None:
        """Wait for jobs, for those that have not begun only so long; then end the threads and the workers."""
        later = [pool for name in LATER_THREADS if (pool := self._pools.pop(name, None))]
        if later:
            from concurrent.futures import wait

            wait([*self._jobs["later"], *self._jobs["background"]], timeout=CLOSE_SECONDS)
        for pool in later:
            pool.shutdown(wait=True, cancel_futures=True)
        for name in ("hooks", "calls"):
            if pool := self._pools.pop(name, None):
                pool.shutdown(wait=True)
        for worker in (self.worker, *self._workers.values()):
            worker.close()

    def _run_mixed(self, hooks: Sequence[Hook], event: Event, context: Context, worker: Worker) -> list[Outcome]:
        groups = _group(hooks)
        jobs = [_with_progress(group, _job(group, event, context, worker), context) for group in groups]
        # This thread takes the first one itself.
        waiting = [self._pool_for(group).submit(job) for group, job in zip(groups[1:], jobs[1:], strict=True)]
        results = [jobs[0](), *(each.result() for each in waiting)]
        done: dict[Hook, Outcome] = {}
        for group, outcomes in zip(groups, results, strict=True):
            done.update(zip(group, outcomes, strict=True))
        return [done[hook] for hook in hooks]

    def _pool_for(self, group: list[Hook]) -> "ThreadPoolExecutor":
        module = handler_module(group[0].handler.kind)
        is_remote = module is not None and module.TYPE.waits_for_network
        return self._threads("calls", NETWORK_THREADS) if is_remote else self._threads()

    def _threads(self, name: str = "hooks", number: int = THREADS) -> "ThreadPoolExecutor":
        from concurrent.futures import ThreadPoolExecutor

        pool = self._pools.get(name)
        # Several threads may come here at once; a pool that is not kept has not started any thread yet.
        return pool or self._pools.setdefault(name, ThreadPoolExecutor(number, thread_name_prefix=f"snell-{name}"))


def _plan(hooks: Sequence[Hook]) -> ExecutionPlan:
    inline = tuple(hook for hook in hooks if isinstance(hook.handler, Inline))
    files = tuple(hook for hook in hooks if isinstance(hook.handler, PythonFile))
    batched = tuple(hook for hook in inline if isinstance(hook.handler, Inline) and hook.handler.batches)
    background = tuple((hook,) for hook in hooks if hook.is_async and hook not in batched)
    foreground = tuple(hook for hook in hooks if (hook,) not in background)
    waiting = [hook for hook in inline if getattr(hook.handler, "waits", False)]
    is_quick = len(inline) + len(files) == len(hooks) and not waiting
    return ExecutionPlan(
        hooks=hooks,
        inline=inline,
        functions=tuple(functions_of(inline) or ()),
        files=files,
        order=tuple(map((*inline, *files).index, hooks)) if is_quick else (),
        batched=batched,
        background=background,
        others=tuple(hook for hook in foreground if hook not in batched),
        foreground=foreground,
        is_inline=len(inline) == len(hooks),
        is_quick=is_quick,
    )


def _group(hooks: Sequence[Hook]) -> list[list[Hook]]:
    """Return what can run in parallel: all functions of ours, all of the worker's, and each other hook by itself."""
    groups: dict[object, list[Hook]] = {}
    for hook in hooks:
        shared = isinstance(hook.handler, Inline | PythonFile)
        groups.setdefault(type(hook.handler) if shared else hook, []).append(hook)
    return list(groups.values())


def _job(group: list[Hook], event: Event, context: Context, worker: Worker) -> Job:
    handler = group[0].handler
    if isinstance(handler, PythonFile):
        return lambda: worker.run(group, event)
    if not isinstance(handler, Inline):
        return lambda: [_run_handler(group[0], event, context)]

    def run_functions() -> Sequence[Outcome]:
        CURRENT_CONTEXT.set(context)  # in the thread that runs them
        return _run_inline(functions_of(group) or (), event, group)

    return run_functions


def _run_inline(functions: Sequence[Function], event: Event, hooks: Sequence[Hook]) -> Sequence[Outcome]:
    """Run functions of this process one after the other. Only an async function can be stopped at its time limit."""
    noticed: dict[int, Outcome] = {}  # the others have no effect and took no time
    clock = time.perf_counter
    start = clock()
    unnoticeable = start + UNNOTICEABLE  # before this moment, no function can have taken long
    for index, function in enumerate(functions):
        try:
            result = function(event)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any error of a hook becomes its outcome
            noticed[index] = Outcome(failure=crash(error), seconds=clock() - start)
            start = clock()
            continue
        now = clock()
        if result is not None:
            noticed[index] = finish_result(result, now - start, hooks[index], event)
        elif now > unnoticeable and now - start >= UNNOTICEABLE:
            noticed[index] = Outcome(seconds=now - start)
        start = now
    if not noticed:
        return (QUIET,) * len(functions)
    outcomes = [QUIET] * len(functions)
    for index, outcome in noticed.items():
        outcomes[index] = outcome
    return outcomes


def _run_handler(hook: Hook, event: Event, context: Context) -> Outcome:
    if isinstance(hook.handler, Broken):
        return Outcome(failure=Failure("launch", hook.handler.reason))
    try:
        module = handler_module(hook.handler.kind)
        if module is None:
            return Outcome(failure=Failure("launch", f"there is no handler for `{hook.handler.kind}` hooks"))
        return module.run(hook, event, context)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong becomes an outcome
        return Outcome(failure=Failure("crash", f"running it failed: {type(error).__name__}: {error}"))


def _with_progress(group: list[Hook], job: Job, context: Context) -> Job:
    """Return the job, with its start and end shown if the caller shows progress."""
    show = context.progress
    if show is None:
        return job

    def run_and_show() -> Sequence[Outcome]:
        for hook in group:
            show(Progress("started", hook.id, hook.status_message))
        outcomes = job()
        for hook, outcome in zip(group, outcomes, strict=True):
            show(Progress("completed", hook.id, hook.status_message, outcome))
        return outcomes

    return run_and_show


async def _await_hook(hook: Hook, event: Event, context: Context) -> Outcome:
    show = context.progress
    if show:
        show(Progress("started", hook.id, hook.status_message))
    outcome = await await_function(hook, event, context.cancel)
    if show:
        show(Progress("completed", hook.id, hook.status_message, outcome))
    return outcome
