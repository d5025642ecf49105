"""
Watchers: hooks that nobody waits for.

Those that only write rows run in the thread of whoever calls, several events' together and with one commit. A thread
of their own would take Python's lock from that thread again and again, and cost those who come next more than its work.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.registry import Registry, once_mark
from snell.model.decision import Decision, Failure, Outcome
from snell.model.errors import StoreError
from snell.model.events import Event
from snell.model.hooks import Hook, Inline
from snell.model.protocols import Database, Store
from snell.runtime.background_hooks import BackgroundHooks
from snell.runtime.executor import Executor
from snell.runtime.ledger_repair import LedgerUpkeep

if TYPE_CHECKING:
    from concurrent.futures import Future

MOST_LARGE = 200  # jobs that wait for a thread, beyond which a large event's are not added to them
SMALL = 16_000  # bytes of an event beyond which reading it takes so long that it had better be done elsewhere

DROPPED = Outcome(failure=Failure("cancelled", "was cancelled before it began"))

Late = Callable[[Hook, Event, Outcome, str], None]


class Job(Struct, frozen=True):
    """What is to be done after one event."""

    event: Event
    executor: Executor
    batched: tuple[Hook, ...]
    others: tuple[Hook, ...]
    background: tuple[tuple[Hook, ...], ...]  # asynchronous hooks, each by itself

    def run(self, watchers: tuple[Hook, ...]) -> Sequence[Outcome]:
        return self.executor.run_later(watchers, self.event)


def watchers_for(decision: Decision, book: Registry, store: Store) -> tuple[Hook, ...]:
    """The watchers that count for this event; the same object each time, by which the crew knows it."""
    event = decision.event
    watchers = book.pick(event, store).watchers
    if any(hook.condition for hook in watchers):
        watchers = tuple(hook for hook in watchers if book.applies(hook, event))
    return watchers


class Watchers:
    def __init__(self, store: Store, background: BackgroundHooks, late: Late, database: Database | None) -> None:
        self._store, self._background, self._late, self._database = store, background, late, database
        self.ledger = LedgerUpkeep(database)

    def noting_call(self, decision: Decision, book: Registry, executor: Executor) -> Decision:
        """The decision, which says so if it is about a tool call that the ledger writes down."""
        if self._database is None or decision.event.name != "PreToolUse":
            return decision
        writers = executor.plan(watchers_for(decision, book, self._store)).batched
        return replace(decision, in_ledger=True) if writers else decision

    def jobs_after(self, decision: Decision, book: Registry, executor: Executor, size: int) -> list[Job]:
        """What is to be done after this event; from now on the background knows of it."""
        watchers = watchers_for(decision, book, self._store)
        return [self._job(watchers, decision, executor, size)] if watchers else []

    def keep_calls(self, decided: Iterable[tuple[Decision, Registry, Executor, int]]) -> None:
        """
        Run only the watchers that write rows of the ledger: in a flood there is no time for more.

        A large event's go to a thread. When too many wait for one, the row is written later, from the decision.
        """
        jobs = []
        for decision, book, executor, size in decided:
            batched = executor.plan(watchers_for(decision, book, self._store)).batched
            if batched and size <= SMALL:
                jobs.append(self._job(batched, decision, executor, size))
            elif batched and executor.backlog < MOST_LARGE:
                self._run_later(self._job(batched, decision, executor, size), executor)
            elif batched:
                self.ledger.note_missing()
        self._run_batch(jobs)

    def _job(self, watchers: tuple[Hook, ...], decision: Decision, executor: Executor, size: int) -> Job:
        """From now on the background knows of those that are asynchronous."""
        event = decision.event
        cancel = threading.Event()
        for hook in (each for each in watchers if each.is_async):
            self._background.begin(hook, event, cancel)
        here = replace(executor.here, verdict=decision.verdict.name.lower())
        executor = executor.for_event(replace(executor.around, cancel=cancel), here)
        parted = executor.plan(watchers)
        if size > SMALL:
            return Job(event, executor, (), parted.unhurried, parted.background)
        return Job(event, executor, parted.batched, parted.others, parted.background)

    def run(self, jobs: Sequence[Job], executor: Executor, *, stays_here: bool) -> None:
        batch = [job for job in jobs if job.batched]
        if batch and stays_here:
            self._run_batch(batch)
        elif batch:
            executor.later(lambda: self._run_batch(batch))
        for job in jobs:
            if job.others:
                self._run_later(job, executor)
            for hook in job.background:
                future = executor.in_background(partial(self._run_in_background, job, hook))
                future.add_done_callback(partial(self._enter_dropped, job, hook))

    def _run_later(self, job: Job, executor: Executor) -> None:
        executor.later(partial(self._run_others, job)).add_done_callback(self._note_dropped)

    def _note_dropped(self, future: "Future[None]") -> None:
        """The process ends before these had their turn, and a ledger's may be among them."""
        if future.cancelled():
            self.ledger.note_missing()

    def _run_batch(self, jobs: Sequence[Job]) -> None:
        """What they said is entered when their rows are kept: journal and marks have transactions of their own."""
        for job, outcomes in zip(jobs, self._outcomes(jobs), strict=True):
            self._enter(job, job.batched, outcomes)

    def _outcomes(self, jobs: Sequence[Job]) -> list[Sequence[Outcome]]:
        if self._database is None or len(jobs) == 1:
            return [job.run(job.batched) for job in jobs]
        outcomes: list[Sequence[Outcome]] = []
        try:
            self._database.in_one_commit(lambda: outcomes.extend(job.run(job.batched) for job in jobs))
        except StoreError:  # nothing was kept; one by one, each can tell what went wrong
            return [job.run(job.batched) for job in jobs]
        return outcomes

    def _run_others(self, job: Job) -> None:
        self._enter(job, job.others, job.run(job.others))

    def _run_in_background(self, job: Job, hook: tuple[Hook, ...]) -> None:
        """One asynchronous hook, entered as soon as it is done; one whose session ended first does not begin."""
        cancel = job.executor.around.cancel
        is_dropped = cancel and cancel.is_set()
        self._enter(job, hook, (DROPPED,) if is_dropped else job.executor.run_in_background(hook, job.event))

    def _enter_dropped(self, job: Job, hook: tuple[Hook, ...], future: "Future[None]") -> None:
        """The process ends before the hook had its turn."""
        if future.cancelled():
            self._enter(job, hook, (DROPPED,))

    def _enter(self, job: Job, watchers: tuple[Hook, ...], outcomes: Sequence[Outcome]) -> None:
        for hook, outcome in zip(watchers, outcomes, strict=True):
            if outcome.failure and isinstance(hook.handler, Inline) and hook.handler.batches:
                self.ledger.note_missing()
            if hook.once and not hook.is_async and outcome.status == "success":
                self._store.put(f"session:{job.event.session_id}", once_mark(hook), True)
            self._late(hook, job.event, outcome, job.executor.here.decision_id)
