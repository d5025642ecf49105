"""
Watchers: hooks that nobody waits for.

Those that are brief run in the thread of whoever calls, several events' together and with one commit. A thread of
their own would take Python's lock from that thread again and again, and cost those who come next more than its work.
"""

import threading
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.book import Book, once_mark
from snell.model.decision import Decision, Outcome
from snell.model.errors import StoreError
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.model.ports import Store
from snell.runtime.crew import Crew
from snell.runtime.tracker import Tracker
from snell.stores.sqlite import SqliteDatabase

BRIEF = 100_000  # bytes of an event beyond which nothing about it is brief

Late = Callable[[Hook, Event, Outcome, str], None]


class Job(Struct, frozen=True):
    """What is to be done after one event."""

    event: Event
    crew: Crew
    brief: tuple[Hook, ...]
    others: tuple[Hook, ...]


def watched_after(decision: Decision, book: Book, store: Store) -> tuple[Hook, ...]:
    """The watchers that count for this event; the same object each time, by which the crew knows it."""
    event = decision.event
    watchers = book.pick(event, store).watchers
    if any(hook.condition for hook in watchers):
        watchers = tuple(hook for hook in watchers if book.applies(hook, event))
    return watchers


class Watching:
    def __init__(self, store: Store, background: Tracker, late: Late, database: SqliteDatabase | None) -> None:
        self._store, self._background, self._late, self._database = store, background, late, database

    def job(self, watchers: tuple[Hook, ...], decision: Decision, crew: Crew, size: int) -> Job:
        """From now on the background knows of those that are asynchronous."""
        event = decision.event
        cancel = threading.Event()
        for hook in (each for each in watchers if each.is_async):
            self._background.begin(hook, event, cancel)
        here = replace(crew.here, verdict=decision.verdict.name.lower())
        crew = crew.on(replace(crew.around, cancel=cancel), here)
        brief, others = crew.parted(watchers) if size <= BRIEF else ((), watchers)
        return Job(event, crew, brief, others)

    def run(self, jobs: Sequence[Job], crew: Crew, *, stays_here: bool) -> None:
        brief = [job for job in jobs if job.brief]
        if brief and stays_here:
            self._run_brief(brief)
        elif brief:
            crew.later(lambda: self._run_brief(brief))
        for job in jobs:
            if job.others:
                crew.later(lambda job=job: self._watch(job, job.others))  # type: ignore[misc] # mypy cannot infer it

    def _run_brief(self, jobs: Sequence[Job]) -> None:
        if self._database is None or len(jobs) == 1:
            self._run_each(jobs)
            return
        try:
            self._database.together(lambda: self._run_each(jobs))
        except StoreError:
            self._run_each(jobs)  # nothing was kept; one by one, each can tell what went wrong

    def _run_each(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            self._watch(job, job.brief)

    def _watch(self, job: Job, watchers: tuple[Hook, ...]) -> None:
        for hook, outcome in zip(watchers, job.crew.run_later(watchers, job.event), strict=True):
            if hook.once and not hook.is_async and outcome.status == "success":
                self._store.put(f"session:{job.event.session_id}", once_mark(hook), True)
            self._late(hook, job.event, outcome, job.crew.here.decision_id)
