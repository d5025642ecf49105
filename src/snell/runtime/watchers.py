"""
Watchers: hooks that run after the reply.

Those that only write rows run in the caller's thread, several events' together and with one commit. A thread of their
own would take Python's lock from that thread again and again, and delay the next events by more than its work.
"""

import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.deferred_notes import hold
from snell.engine.record import late_run
from snell.engine.registry import once_mark
from snell.model.context import Context
from snell.model.decision import Decision, Failure, Outcome, Reason
from snell.model.effects import Note, Tell
from snell.model.errors import StoreError
from snell.model.events import Event, session_scope
from snell.model.hooks import Hook, Inline
from snell.model.protocols import Database, Store
from snell.records import decisions, orphaned_calls
from snell.runtime.background_hooks import BackgroundHooks
from snell.runtime.database_journal import StoreJournal
from snell.runtime.executor import Executor
from snell.runtime.failure_warnings import first_warning

if TYPE_CHECKING:
    from concurrent.futures import Future

# Seconds after which a call that is not known to be missing is taken as written. Other processes write calls, too.
CERTAIN_AFTER = 60.0
MOST_LARGE = 200  # jobs that wait for a thread; with more, those of a large event are not added
SMALL = 16_000  # bytes; reading a larger event takes so long that a thread does it

DROPPED = Outcome(failure=Failure("cancelled", "was cancelled before it began"))


class Job(Struct, frozen=True):
    """The watchers of one event."""

    event: Event
    context: Context
    batched: tuple[Hook, ...]
    others: tuple[Hook, ...]
    background: tuple[tuple[Hook, ...], ...]  # asynchronous hooks, each by itself


def watchers_for(event: Event, context: Context) -> tuple[Hook, ...]:
    """Return the watchers of this event; the same object for the same kind of event, which the executor knows."""
    registry = context.registry
    watchers = registry.pick(event, context.marks).watchers
    if any(hook.condition for hook in watchers):
        watchers = tuple(hook for hook in watchers if registry.applies(hook, event))
    return watchers


class Watchers:
    """Runs watchers, and enters what they and hooks in the background have done."""

    def __init__(
        self,
        executor: Executor,
        background: BackgroundHooks,
        marks: Store,
        journal: StoreJournal | None,
        database: Database | None,
    ) -> None:
        self._executor, self._background = executor, background
        self._marks, self._journal, self._database = marks, journal, database
        self.ledger = LedgerRepair(database, journal)

    def jobs_after(self, decision: Decision, context: Context, size: int) -> list[Job]:
        """Return what is to be done after this event; asynchronous watchers are pending from now on."""
        watchers = watchers_for(decision.event, context)
        return [self._job(watchers, decision, context, size)] if watchers else []

    def keep_calls(self, decided: Iterable[tuple[Decision, Context, int]]) -> None:
        """
        Run only the watchers that write rows of the ledger: under heavy load there is no time for more.

        A large event's go to a thread. When too many wait for one, the row is written later, from the decision.
        """
        jobs = []
        for decision, context, size in decided:
            batched = self._executor.plan(watchers_for(decision.event, context)).batched
            if batched and size <= SMALL:
                jobs.append(self._job(batched, decision, context, size))
            elif batched and self._executor.backlog < MOST_LARGE:
                self._run_later(self._job(batched, decision, context, size))
            elif batched:
                self.ledger.note_missing()
        self._run_batch(jobs)

    def _job(self, watchers: tuple[Hook, ...], decision: Decision, context: Context, size: int) -> Job:
        event, plan = decision.event, self._executor.plan(watchers)
        cancel = None if plan.batched == watchers else threading.Event()  # nothing can end those that only write rows
        for hook in watchers if cancel else ():
            if hook.is_async:
                self._background.begin(hook, event, cancel)
        context = replace(context, verdict=str(decision.verdict), cancel=cancel)
        if size > SMALL:
            return Job(event, context, (), plan.foreground, plan.background)
        return Job(event, context, plan.batched, plan.others, plan.background)

    def run(self, jobs: Sequence[Job], *, stays_here: bool) -> None:
        """Run all watchers of these jobs; those that only write rows in this thread if it `stays_here`."""
        batch = [job for job in jobs if job.batched]
        if batch and stays_here:
            self._run_batch(batch)
        elif batch:
            self._executor.later(lambda: self._run_batch(batch))
        for job in jobs:
            if job.others:
                self._run_later(job)
            for hook in job.background:
                future = self._executor.later(partial(self._run_in_background, job, hook), "background")
                future.add_done_callback(partial(self._enter_dropped, job, hook))

    def _run_later(self, job: Job) -> None:
        def run_others() -> None:
            self._enter(job, job.others, self._executor.run(job.others, job.event, job.context, "later"))

        self._executor.later(run_others).add_done_callback(self._note_dropped)

    def _note_dropped(self, future: "Future[None]") -> None:
        """Note that the process ended before these watchers ran: one of the ledger's may be among them."""
        if future.cancelled():
            self.ledger.note_missing()

    def _run_batch(self, jobs: Sequence[Job]) -> None:
        """Enter outcomes after the rows are kept: journal and marks have transactions of their own."""
        for job, outcomes in zip(jobs, self._outcomes(jobs), strict=True):
            self._enter(job, job.batched, outcomes)

    def _outcomes(self, jobs: Sequence[Job]) -> list[Sequence[Outcome]]:
        def run_all() -> list[Sequence[Outcome]]:
            return [self._executor.run(job.batched, job.event, job.context, "later") for job in jobs]

        if self._database is None or len(jobs) == 1:
            return run_all()
        outcomes: list[Sequence[Outcome]] = []
        try:
            self._database.in_one_commit(lambda: outcomes.extend(run_all()))
        except StoreError:  # nothing was kept; one by one, each can report what went wrong
            return run_all()
        return outcomes

    def _run_in_background(self, job: Job, hook: tuple[Hook, ...]) -> None:
        """Run one asynchronous hook and enter its outcome; one whose session ended first does not begin."""
        cancel = job.context.cancel
        if cancel and cancel.is_set():
            self._enter(job, hook, (DROPPED,))
        else:
            self._enter(job, hook, self._executor.run(hook, job.event, job.context, "background"))

    def _enter_dropped(self, job: Job, hook: tuple[Hook, ...], future: "Future[None]") -> None:
        """Enter a hook that did not begin before the process ended."""
        if future.cancelled():
            self._enter(job, hook, (DROPPED,))

    def _enter(self, job: Job, watchers: tuple[Hook, ...], outcomes: Sequence[Outcome]) -> None:
        for hook, outcome in zip(watchers, outcomes, strict=True):
            if outcome.failure and isinstance(hook.handler, Inline) and hook.handler.batches:
                self.ledger.note_missing()
            job.context.late(hook, job.event, outcome)

    def enter_late(self, hook: Hook, event: Event, outcome: Outcome, decision_id: str, project: str) -> None:
        """Keep the notes of a hook in the background for the next event; its verdict comes too late to count."""
        is_wanted = self._background.finish(hook, event, outcome)
        if hook.once and is_wanted and outcome.status == "success":
            self._marks.put(session_scope(event), once_mark(hook), True)
        # Our own packs record for themselves; their run is worth a line only when it went wrong.
        is_worth_it = outcome.failure or outcome.effects or not hook.source.layer.startswith("pack:")
        if self._journal and is_worth_it:
            self._journal.add_late(decision_id, late_run(hook, outcome))
        notes = [Reason(hook.id, effect.text) for effect in outcome.effects if isinstance(effect, Note | Tell)]
        if notes and is_wanted and hook.role != "watches":
            hold(event, notes, self._marks, until="event")
        failure = outcome.failure
        warning = first_warning(hook, event, failure, self._marks, project) if failure else None
        if warning and event.name != "SessionEnd":
            hold(event, [warning], self._marks, until="user")


class LedgerRepair:
    """
    Completes the ledger: writes rows that heavy load, a locked database or a killed process kept from being written.

    The rows of the decisions show which calls the ledger must have, so nothing is kept in memory for this. Calls are
    compared with decisions only when some may be missing, starting at the last point where they were complete.
    """

    def __init__(self, database: Database | None, journal: StoreJournal | None = None) -> None:
        self._database, self._journal = database, journal
        self._noted, self._compared = object(), object()  # not the same: an earlier process may have been killed
        self._has_missed, self._up_to = False, 0  # the last decision of the comparison in progress
        self._seen_at, self._seen = 0.0, 0  # the newest decision, and when it was read

    @property
    def is_behind(self) -> bool:
        """Return whether decisions and calls have still to be compared."""
        return self._database is not None and (self._noted is not self._compared or self._up_to > 0)

    def note_missing(self) -> None:
        """Note that a call was decided whose row could not be written."""
        self._noted, self._has_missed = object(), True

    def catch_up(self) -> bool:
        """Write a few missing rows; returns whether there may be more. Raises `StoreError`."""
        if self._database is None or not self.is_behind:
            return False
        if not self._up_to:
            noted, waiting = self._noted, self._journal.waiting if self._journal else 0
            self._up_to = self._database.run(decisions.newest_seq, only_reads=True)
            self._compared = self._compared if waiting else noted  # a call of a waiting decision may be missing, too
        is_more = self._database.run(lambda tx: orphaned_calls.catch_up(tx, self._up_to))
        if not is_more:
            self._up_to, self._has_missed = 0, self._noted is not self._compared
        return is_more

    def catch_up_at_end(self) -> None:
        """Write all missing rows at the end of the process, if it missed one."""
        with suppress(StoreError):  # then the next process does it
            for _ in ("the comparison in progress", "that of later decisions"):
                while self._has_missed and self.catch_up():
                    pass

    def store_progress(self) -> None:
        """Store up to which decision all rows are written, so that these need not be compared after a crash."""
        now = time.monotonic()
        if self._database is None or self.is_behind or now - self._seen_at < CERTAIN_AFTER:
            return
        newest, seen = self._database.run(decisions.newest_seq, only_reads=True), self._seen
        if seen:
            self._database.run(lambda tx: orphaned_calls.store_compared(tx, seen))
        self._seen_at, self._seen = now, newest if newest > seen else 0
