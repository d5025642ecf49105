"""
The house: everything assembled once, then one way through it.

    payload -> client.decode -> Event -> book -> decide -> Decision -> client.encode -> Reply
                                                     \\-> journal, watchers (after the reply)
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.decide import decide
from snell.engine.deferred_notes import hold
from snell.engine.json_schema import TOOL_SCHEMAS, Schema, validator
from snell.engine.record import late_run, record_of
from snell.engine.registry import Book, Switches
from snell.handlers.worker.client import Worker
from snell.model.decision import Decision, Outcome, Reason
from snell.model.effects import Note, Tell
from snell.model.errors import StoreError
from snell.model.events import Event, event_from
from snell.model.hooks import LONGEST_TIMEOUT, Hook, Scope
from snell.model.protocols import Client, Reply, Store, Team
from snell.records.runtime_audit_log import auditor_of
from snell.runtime.background_hooks import Tracker
from snell.runtime.callback_hooks import Registration, event_named, hooks_from
from snell.runtime.database_journal import StoreJournal
from snell.runtime.decision_drivers import Deciding, drive, drive_async
from snell.runtime.dedupe import Deliveries, delivery_of
from snell.runtime.dynamic_hooks import OnSuccess, Registry
from snell.runtime.executor import Crew
from snell.runtime.hook_loader import DIRECTORIES, Key, OnShelf, Shelf
from snell.runtime.journal import Journal, NoJournal, new_id
from snell.runtime.missing_packages import missing_packages
from snell.runtime.pending_rows import FOLDER, PendingRows
from snell.runtime.progress import Streaming, run_batch
from snell.runtime.stored_marks import StoredMarks
from snell.runtime.watchers import Job, Watching
from snell.sdk.pack_context import Here
from snell.sdk.permission_rules import holds
from snell.store.in_memory import InMemoryStore
from snell.store.sqlite import SqliteDatabase
from snell.system.handler_context import HandlerSettings, Surroundings
from snell.system.paths import Places, places
from snell.system.run_program import background_runs, end_background_runs

PROBLEMS_TOLD = 3
NO_HOOKS = Book(())


class Place(Struct, frozen=True):
    """Where an event happens: the book that counts there, and a crew that knows its surroundings."""

    book: Book
    crew: Crew
    problems: tuple[str, ...] = ()
    decision_id: str = ""


class House:
    """Build one, use it for many events, close it."""

    auditor = cached_property(lambda house: auditor_of(house.database, house.where))  # the first answer does without

    def __init__(
        self,
        *,
        shelf: Shelf | None = None,
        store: Store | None = None,
        journal: Journal | None = None,
        worker: Worker | None = None,
        env: Mapping[str, str] | None = None,
        switches: Switches | None = None,
        schemas: Mapping[str, Schema] = TOOL_SCHEMAS,
        database: SqliteDatabase | None = None,
        where: Places | None = None,
        handlers: HandlerSettings | None = None,
        is_interactive: bool = True,
    ) -> None:
        self.database = database
        self.where = where
        self.team: Team | None = None  # the daemon's, when work is shared with other machines
        self.background = Tracker()
        self.store, self.journal = store or InMemoryStore(), journal or NoJournal()
        around = Surroundings(
            env=dict(os.environ if env is None else env),
            late=self._late,
            begin=self.background.begin,
            settings=handlers or HandlerSettings(),
            is_interactive=is_interactive,
        )
        self.crew = Crew(worker, around)
        self.crew.here = Here(
            marks=self.store,
            database=database,
            env=around.env,
            is_trusted=shelf is None,  # an embedding program answers for where it runs
            trusts_notes=shelf is None,
            state=where.state if where else None,
            config=where.config if where else None,
        )
        self._shelf = shelf
        self._switches = switches or Switches()
        self.validate = validator(schemas)
        self._registry = Registry()
        self._deliveries = Deliveries()
        self._books: dict[Key | None, tuple[object, object, Book]] = {}  # the one that was used last stands last
        self.watching = Watching(self.store, self.background, self._late, database)

    @classmethod
    def embedded(
        cls, *functions: Hook | Callable[..., Any], hooks: Registration | None = None, **options: Any
    ) -> "House":
        """A house inside another program: no files, no settings, the program's own functions in its own process."""
        house = cls(**options)
        house.register(*functions, *hooks_from(hooks or {}))
        return house

    @classmethod
    def for_user(
        cls, env: Mapping[str, str] | None = None, where: Places | None = None, *, stays: bool = False
    ) -> "House":
        """The house that a person's settings describe; one that `stays` may bring rows into the database later."""
        env = dict(os.environ if env is None else env)
        where = where or places(env)
        worker = Worker(env)
        database = database_of(where, hurries=stays)
        house = cls(
            shelf=Shelf(where, env, worker),
            store=StoredMarks(database),
            journal=StoreJournal(database, pending=PendingRows(where.state / FOLDER) if stays else None),
            worker=worker,
            env=env,
            database=database,
            where=where,
        )
        house._deliveries = Deliveries(keeps_rounds=not stays)
        return house

    def handle(self, client: Client, payload: bytes, request_id: str = "") -> Reply:
        """One payload in, one reply out."""
        return client.encode(self.decide(client.decode(payload), request_id))

    def __enter__(self) -> "House":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fire(self, name: str, **payload: Any) -> Decision:
        """Decide an event from its fields: `house.fire("PreToolUse", tool_name="Bash", tool_input={...})`."""
        return self.decide(event_from(payload, event_named(name)))

    async def fire_async(self, name: str, **payload: Any) -> Decision:
        """The same without blocking the loop."""
        return await self.decide_async(event_from(payload, event_named(name)))

    def decide(self, event: Event, request_id: str = "") -> Decision:
        """Decide one event and wait for it."""
        work = self.begin(event, request_id)
        decision = work.earlier or self.settle(work, self.driven(work))
        self.follow_up(work, decision)
        return decision

    def driven(self, work: "Work") -> Decision:
        """Run the steps of deciding to their end."""
        return drive(work.steps(), work.place.crew)

    async def decide_async(self, event: Event, request_id: str = "") -> Decision:
        """Decide one event without blocking the loop."""
        work = self.begin(event, request_id)
        decision = work.earlier or self.settle(work, await drive_async(work.steps(), work.place.crew))
        self.follow_up(work, decision)
        return decision

    def stream(self, event: Event, request_id: str = "") -> Streaming:
        """Decide one event while its caller sees each hook start and end: `async for progress in stream`."""
        return Streaming(self, event, request_id)

    def run_batch(self, event: Event, request_id: str = "") -> list[Outcome]:
        """All outcomes of one event at once, for a caller that can show no progress; refuses prompt and agent hooks."""
        return run_batch(self, event, request_id)

    def begin(self, event: Event, request_id: str = "", env: Mapping[str, str] | None = None) -> "Work":
        """
        Everything that deciding this event needs. Whoever drives the steps calls `settle` before the answer leaves
        and `follow_up` after it.
        """
        key, size = delivery_of(event, request_id)
        earlier = self._deliveries.earlier(key)
        # What was decided before need not be decided anywhere.
        place = Place(NO_HOOKS, self.crew) if earlier else self.place_of(event, new_id(), env)
        return Work(self, event, key, place, earlier, size)

    def settle(self, work: "Work", decision: Decision) -> Decision:
        """Make the decision last: the same delivery gets it again, and its row survives a crash."""
        decision = replace(decision, id=work.place.decision_id, tells=(*_problems_to_tell(work), *decision.tells))
        decision = self.watching.noting_call(decision, work.place.book, work.place.crew)
        self._deliveries.keep(work.key, decision, work.size)
        self.journal.commit(decision, work.key)
        return decision

    def follow_up(self, work: "Work", decision: Decision) -> None:
        """What nobody needs to wait for: the trace, watchers, the end of a session."""
        self.follow_up_all([(work, decision)])

    def follow_up_all(self, decided: Iterable[tuple["Work", Decision]], *, stays_here: bool = False) -> None:
        """
        The same for several decisions, whose traces are then written together.

        `stays_here`: watchers that only write rows run in this thread, where they disturb nobody.
        """
        new = [(work, decision) for work, decision in decided if not work.earlier]
        if new and not isinstance(self.journal, NoJournal):
            self.journal.record(*(self.record_of(decision, work.place) for work, decision in new))
        jobs: list[Job] = []
        for work, decision in new:
            self._registry.call_on_success(decision)
            if decision.event.name == "SessionEnd" and decision.event.session_id:
                self.background.cancel(decision.event.session_id)  # also what an event just before it has begun
            jobs += self.watching.jobs_after(decision, work.place.book, work.place.crew, work.size)
        self.watching.run(jobs, self.crew, stays_here=stays_here)
        for _, decision in new:
            if decision.event.name == "SessionEnd":
                self.forget_session(decision.event.session_id)

    def register(
        self,
        *hooks: Hook | Callable[..., Any],
        scope: Scope = Scope.SESSION,
        group: str = "",
        session_id: str = "",
        on_success: OnSuccess | None = None,
    ) -> list[Hook]:
        """Add hooks at run time: ready-made ones, or functions with a role decorator."""
        return self._registry.add(*hooks, scope=scope, group=group, session_id=session_id, on_success=on_success)

    def unregister(self, *, layer: str = "", group: str = "", scope: Scope | None = None) -> int:
        """Take back what was registered, by where it came from, by group or by scope; returns how many."""

        def goes(hook: Hook) -> bool:
            by_name = (layer and hook.source.layer == layer) or (group and hook.group == group)
            return bool(by_name) or (scope is not None and hook.scope is scope)

        return self._registry.remove(goes)

    def start_skill(self, path: Path, session_id: str, cwd: str, *, is_agent: bool = False) -> list[str]:
        """Let the hooks in a skill's or agent's front matter count for a session; returns what is wrong with them."""
        if not self._shelf:
            raise TypeError("an embedded house has no settings to look skills up in; register their hooks yourself")
        found = self._shelf.skill(path, cwd, is_agent=is_agent)
        self.end_skill(path, session_id)  # a skill that starts twice has its hooks once
        self.register(*found.hooks, group=_skill_group(path, session_id), session_id=session_id)
        return [str(each) for each in found.problems]

    def end_skill(self, path: Path, session_id: str) -> int:
        """Take a skill's hooks back; returns how many."""
        return self.unregister(group=_skill_group(path, session_id))

    def forget_session(self, session_id: str) -> None:
        """Drop a session's marks, but for the lasting ones, and the hooks that were registered for it."""
        self.store.drop(f"session:{session_id}")
        if session_id:
            self._registry.remove(lambda hook: hook.session_id == session_id)

    def place_of(self, event: Event, decision_id: str = "", env: Mapping[str, str] | None = None) -> Place:
        """What counts where this event happens."""
        on_shelf = self._shelf.hooks_for(event, env.get("SNELL_POLICY", "") if env else "") if self._shelf else None
        book = self._book(on_shelf)
        if not on_shelf:
            crew = self.crew.on(self.crew.around, replace(self.crew.here, decision_id=decision_id))
            return Place(book, crew, tuple(book.problems), decision_id)
        around = replace(
            self.crew.around,
            env=self.crew.around.env if env is None else env,
            project_dir=on_shelf.project_dir,
            settings=on_shelf.handlers,
            late=lambda hook, at, outcome: self._late(hook, at, outcome, decision_id),
        )
        here = replace(
            self.crew.here,
            env=around.env,
            project_dir=on_shelf.project_dir,
            is_trusted=on_shelf.loaded.is_trusted,
            trusts_notes=on_shelf.loaded.trusts_notes,
            decision_id=decision_id,
        )
        # Looked for once a session: it takes its time.
        lacking = map(str, missing_packages(book, around)) if event.name == "SessionStart" else ()
        problems = (*lacking, *on_shelf.problems, *book.problems)
        return Place(book, self.crew.on(around, here), problems, decision_id)

    def problems_for(self, event: Event) -> tuple[str, ...]:
        """What is wrong with the settings and hooks that count here."""
        return self.place_of(replace(event, name="SessionStart")).problems

    def fails_closed(self, cwd: str = "", env: Mapping[str, str] | None = None) -> bool:
        """Must what cannot even be read be refused? Yes, where a hook stands guard that blocks when it fails."""
        book = self.place_of(Event(name="PreToolUse", payload={"cwd": cwd}), env=env).book
        counts = (hook for hook in book.hooks() if hook.enabled and not hook.untrusted and not book.switches.off(hook))
        return any(hook.can_judge and hook.failure_policy == "block" for hook in counts)

    def record_of(self, decision: Decision, place: Place | None = None) -> dict[str, Any]:
        """Everything there is to know about a decision of this house."""
        place = place or self.place_of(decision.event)
        return record_of(decision, place.book.considered(decision.event, self.store), place.problems)

    def close(self) -> None:
        """Wait for watchers and for hooks that went to the background, each for no longer than its own limit."""
        self.crew.close()
        deadline = time.monotonic() + LONGEST_TIMEOUT
        while background_runs() and time.monotonic() < deadline:
            time.sleep(0.01)
        end_background_runs()
        self.journal.close()
        self.watching.ledger.catch_up_at_end()
        if self.database:
            if self.auditor:
                self.auditor.keep_up(at_once=True)
            with suppress(StoreError):
                self.database.checkpoint()
            self.database.close()

    def _book(self, on_shelf: OnShelf | None) -> Book:
        """The book of these settings and what is registered now; built anew only when one of the two changed."""
        registered = self._registry.hooks
        key = on_shelf.key if on_shelf else None
        known = self._books.pop(key, None)
        if not known or known[0] is not on_shelf or known[1] is not registered:
            hooks = _with_own_ids((*(on_shelf.hooks if on_shelf else ()), *registered))
            book = Book(hooks, switches=on_shelf.switches if on_shelf else self._switches, condition=_condition)
            known = (on_shelf, registered, book)
        self._books[key] = known  # instead of the book of earlier settings
        if len(self._books) > DIRECTORIES:
            self._books.pop(next(iter(self._books)), None)
        return known[2]

    def _late(self, hook: Hook, event: Event, outcome: Outcome, decision_id: str = "") -> None:
        """What a background hook says goes out with the next event; its verdict comes too late to count."""
        is_wanted = self.background.finish(hook, event, outcome)
        # Our own packs record for themselves; that they did is worth a line only when it went wrong.
        if outcome.failure or outcome.effects or not hook.source.layer.startswith("pack:"):
            self.journal.add_late(decision_id, late_run(hook, outcome))
        notes = [Reason(hook.id, effect.text) for effect in outcome.effects if isinstance(effect, Note | Tell)]
        if notes and is_wanted and hook.role != "watches":
            hold(event, notes, self.store, until="event")


class Work(Struct, frozen=True):
    """One event on its way through the house."""

    house: House
    event: Event
    key: str
    place: Place
    earlier: Decision | None = None  # the same delivery was decided before
    size: int = 0  # of the delivery, in bytes

    def steps(self) -> Deciding:
        return decide(self.event, self.place.book, self.house.store, self.house.validate)


def database_of(where: Places, *, hurries: bool = False) -> SqliteDatabase:
    """The database in which a person's marks and decisions are kept."""
    return SqliteDatabase(where.state / "snell.db", hurries=hurries)


def _problems_to_tell(work: Work) -> list[Reason]:
    """A person should not find out by accident that a hook is off: the start of a session says it."""
    problems = work.place.problems if work.event.name == "SessionStart" else ()
    more = len(problems) - PROBLEMS_TOLD
    told = [*problems[:PROBLEMS_TOLD], *([f"{more} more; see `snell settings`"] if more > 0 else [])]
    return [Reason("snell", f"snell: {text}") for text in told]


def _with_own_ids(hooks: Iterable[Hook]) -> list[Hook]:
    """INVARIANT: an id names one hook, since marks and traces go by it."""
    seen: dict[str, int] = {}
    named = []
    for hook in hooks:
        times = seen[hook.id] = seen.get(hook.id, 0) + 1
        named.append(hook if times == 1 else replace(hook, id=f"{hook.id}#{times}"))
    return named


def _condition(rule: str, event: Event) -> bool:
    home = os.path.expanduser("~")
    return holds(rule, event.tool_names, event.readable_input, event.kind, cwd=event.cwd, home=home)


def _skill_group(path: Path, session_id: str) -> str:
    return f"skill:{os.path.realpath(path)}:{session_id}"
