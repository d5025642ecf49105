"""
The runtime: everything assembled once, then one way through it.

    payload -> client.decode -> Event -> book -> decide -> Decision -> client.encode -> Reply
                                                     \\-> journal, watchers (after the reply)
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.decide import decide
from snell.engine.deferred_notes import hold
from snell.engine.json_schema import TOOL_SCHEMAS, Schema, validator
from snell.engine.record import late_run, record_of
from snell.engine.registry import Registry, Switches
from snell.handlers.worker.client import Worker
from snell.model.decision import Decision, Outcome, Reason
from snell.model.effects import Note, Tell
from snell.model.errors import StoreError
from snell.model.events import Event, event_from
from snell.model.hooks import LONGEST_TIMEOUT, Hook, Scope
from snell.model.protocols import Client, Database, Reply, Store, TeamSync
from snell.runtime.background_hooks import BackgroundHooks
from snell.runtime.callback_hooks import Registration, event_named, hooks_from
from snell.runtime.database_journal import StoreJournal
from snell.runtime.decision_drivers import Deciding, run_decision, run_decision_async
from snell.runtime.dedupe import DecisionCache, delivery_key
from snell.runtime.dynamic_hooks import DynamicHooks, OnSuccess
from snell.runtime.executor import Executor
from snell.runtime.hook_loader import DIRECTORIES, HookLoader, Key, LoadedHooks
from snell.runtime.journal import Journal, NoJournal, new_id
from snell.runtime.missing_packages import missing_packages
from snell.runtime.pending_rows import FOLDER, PendingRows
from snell.runtime.progress import DecisionProgress, run_batch
from snell.runtime.stored_marks import StoredMarks
from snell.runtime.watchers import Job, Watchers
from snell.sdk.pack_context import PackContext
from snell.sdk.permission_rules import holds
from snell.store import open_database
from snell.store.in_memory import InMemoryStore
from snell.system.handler_context import HandlerContext, HandlerSettings
from snell.system.paths import Places, places
from snell.system.run_program import background_runs, end_background_runs

if TYPE_CHECKING:
    from snell.records.audit_log import AuditLog

PROBLEMS_TOLD = 3
NO_HOOKS = Registry(())


class Context(Struct, frozen=True):
    """Where an event happens: the book that counts there, and a crew that knows its surroundings."""

    book: Registry
    executor: Executor
    problems: tuple[str, ...] = ()
    decision_id: str = ""


class Runtime:
    """Build one, use it for many events, close it."""

    def __init__(
        self,
        *,
        loader: HookLoader | None = None,
        store: Store | None = None,
        journal: Journal | None = None,
        worker: Worker | None = None,
        env: Mapping[str, str] | None = None,
        switches: Switches | None = None,
        schemas: Mapping[str, Schema] = TOOL_SCHEMAS,
        database: Database | None = None,
        where: Places | None = None,
        handlers: HandlerSettings | None = None,
        is_interactive: bool = True,
    ) -> None:
        self.database = database
        self.where = where
        self.team: TeamSync | None = None  # the daemon's, when work is shared with other machines
        self.background = BackgroundHooks()
        self.store, self.journal = store or InMemoryStore(), journal or NoJournal()
        around = HandlerContext(
            env=dict(os.environ if env is None else env),
            late=self._late,
            begin=self.background.begin,
            settings=handlers or HandlerSettings(),
            is_interactive=is_interactive,
        )
        self.executor = Executor(worker, around)
        self.executor.here = PackContext(
            marks=self.store,
            database=database,
            env=around.env,
            is_trusted=loader is None,  # an embedding program answers for where it runs
            trusts_notes=loader is None,
            state=where.state if where else None,
            config=where.config if where else None,
        )
        self._loader = loader
        self._switches = switches or Switches()
        self.validate = validator(schemas)
        self._registry = DynamicHooks()
        self._deliveries = DecisionCache()
        self._books: dict[Key | None, tuple[object, object, Registry]] = {}  # the one that was used last stands last
        self.watching = Watchers(self.store, self.background, self._late, database)

    @cached_property
    def audit_log(self) -> "AuditLog | None":
        """The runtime's audit log; None for an embedded runtime. Loaded on first use: the first reply needs none."""
        if self.database is None or self.where is None:
            return None
        from snell.records.audit_log import AuditLog

        return AuditLog(self.database, self.where.state)

    @classmethod
    def embedded(
        cls, *functions: Hook | Callable[..., Any], hooks: Registration | None = None, **options: Any
    ) -> "Runtime":
        """A house inside another program: no files, no settings, the program's own functions in its own process."""
        runtime = cls(**options)
        runtime.register(*functions, *hooks_from(hooks or {}))
        return runtime

    @classmethod
    def for_user(
        cls, env: Mapping[str, str] | None = None, where: Places | None = None, *, keep_open: bool = False
    ) -> "Runtime":
        """The house that a person's settings describe; one that `stays` may bring rows into the database later."""
        env = dict(os.environ if env is None else env)
        where = where or places(env)
        worker = Worker(env)
        database = database_of(where, low_latency=keep_open)
        runtime = cls(
            loader=HookLoader(where, env, worker),
            store=StoredMarks(database),
            journal=StoreJournal(database, pending=PendingRows(where.state / FOLDER) if keep_open else None),
            worker=worker,
            env=env,
            database=database,
            where=where,
        )
        runtime._deliveries = DecisionCache(keeps_rounds=not keep_open)
        return runtime

    def handle(self, client: Client, payload: bytes, request_id: str = "") -> Reply:
        """One payload in, one reply out."""
        return client.encode(self.decide(client.decode(payload), request_id))

    def __enter__(self) -> "Runtime":
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
        work = self.prepare(event, request_id)
        decision = work.earlier or self.commit(work, self.run_to_end(work))
        self.after_reply(work, decision)
        return decision

    def run_to_end(self, work: "EventRun") -> Decision:
        """Run the steps of deciding to their end."""
        return run_decision(work.steps(), work.place.executor)

    async def decide_async(self, event: Event, request_id: str = "") -> Decision:
        """Decide one event without blocking the loop."""
        work = self.prepare(event, request_id)
        decision = work.earlier or self.commit(work, await run_decision_async(work.steps(), work.place.executor))
        self.after_reply(work, decision)
        return decision

    def stream(self, event: Event, request_id: str = "") -> DecisionProgress:
        """Decide one event while its caller sees each hook start and end: `async for progress in stream`."""
        return DecisionProgress(self, event, request_id)

    def run_batch(self, event: Event, request_id: str = "") -> list[Outcome]:
        """All outcomes of one event at once, for a caller that can show no progress; refuses prompt and agent hooks."""
        return run_batch(self, event, request_id)

    def prepare(self, event: Event, request_id: str = "", env: Mapping[str, str] | None = None) -> "EventRun":
        """
        Everything that deciding this event needs. Whoever drives the steps calls `settle` before the answer leaves
        and `follow_up` after it.
        """
        key, size = delivery_key(event, request_id)
        earlier = self._deliveries.earlier(key)
        # An earlier decision needs no hooks.
        place = Context(NO_HOOKS, self.executor) if earlier else self.context_for(event, new_id(), env)
        return EventRun(self, event, key, place, earlier, size)

    def commit(self, work: "EventRun", decision: Decision) -> Decision:
        """Make the decision last: the same delivery gets it again, and its row survives a crash."""
        decision = replace(decision, id=work.place.decision_id, tells=(*_problems_to_tell(work), *decision.tells))
        decision = self.watching.noting_call(decision, work.place.book, work.place.executor)
        self._deliveries.keep(work.key, decision, work.size)
        self.journal.commit(decision, work.key)
        return decision

    def after_reply(self, work: "EventRun", decision: Decision) -> None:
        """What nobody needs to wait for: the trace, watchers, the end of a session."""
        self.after_replies([(work, decision)])

    def after_replies(self, decided: Iterable[tuple["EventRun", Decision]], *, stays_here: bool = False) -> None:
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
            jobs += self.watching.jobs_after(decision, work.place.book, work.place.executor, work.size)
        self.watching.run(jobs, self.executor, stays_here=stays_here)
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
        if not self._loader:
            raise TypeError("an embedded house has no settings to look skills up in; register their hooks yourself")
        found = self._loader.skill(path, cwd, is_agent=is_agent)
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

    def context_for(self, event: Event, decision_id: str = "", env: Mapping[str, str] | None = None) -> Context:
        """What counts where this event happens."""
        loaded = self._loader.hooks_for(event, env.get("SNELL_POLICY", "") if env else "") if self._loader else None
        book = self._book(loaded)
        if not loaded:
            here = replace(self.executor.here, decision_id=decision_id)
            executor = self.executor.for_event(self.executor.around, here)
            return Context(book, executor, tuple(book.problems), decision_id)
        around = replace(
            self.executor.around,
            env=self.executor.around.env if env is None else env,
            project_dir=loaded.project_dir,
            settings=loaded.handlers,
            late=lambda hook, at, outcome: self._late(hook, at, outcome, decision_id),
        )
        here = replace(
            self.executor.here,
            env=around.env,
            project_dir=loaded.project_dir,
            is_trusted=loaded.loaded.is_trusted,
            trusts_notes=loaded.loaded.trusts_notes,
            decision_id=decision_id,
        )
        lacking = map(str, missing_packages(book, around)) if event.name == "SessionStart" else ()  # slow
        problems = (*lacking, *loaded.problems, *book.problems)
        return Context(book, self.executor.for_event(around, here), problems, decision_id)

    def problems_for(self, event: Event) -> tuple[str, ...]:
        """What is wrong with the settings and hooks that count here."""
        return self.context_for(replace(event, name="SessionStart")).problems

    def fails_closed(self, cwd: str = "", env: Mapping[str, str] | None = None) -> bool:
        """Must what cannot even be read be refused? Yes, where a hook stands guard that blocks when it fails."""
        book = self.context_for(Event(name="PreToolUse", payload={"cwd": cwd}), env=env).book
        counts = (hook for hook in book.hooks() if hook.enabled and not hook.untrusted and not book.switches.off(hook))
        return any(hook.can_judge and hook.failure_policy == "block" for hook in counts)

    def record_of(self, decision: Decision, place: Context | None = None) -> dict[str, Any]:
        """Everything there is to know about a decision of this house."""
        place = place or self.context_for(decision.event)
        return record_of(decision, place.book.skipped_hooks(decision.event, self.store), place.problems)

    def close(self) -> None:
        """Wait for watchers and for hooks that went to the background, each for no longer than its own limit."""
        self.executor.close()
        deadline = time.monotonic() + LONGEST_TIMEOUT
        while background_runs() and time.monotonic() < deadline:
            time.sleep(0.01)
        end_background_runs()
        self.journal.close()
        self.watching.ledger.catch_up_at_end()
        if self.database:
            if self.audit_log:
                self.audit_log.keep_up(at_once=True)
            with suppress(StoreError):
                self.database.checkpoint()
            self.database.close()

    def _book(self, loaded: LoadedHooks | None) -> Registry:
        """The book of these settings and what is registered now; built anew only when one of the two changed."""
        registered = self._registry.hooks
        key = loaded.key if loaded else None
        known = self._books.pop(key, None)
        if not known or known[0] is not loaded or known[1] is not registered:
            hooks = _with_own_ids((*(loaded.hooks if loaded else ()), *registered))
            book = Registry(hooks, switches=loaded.switches if loaded else self._switches, condition=_condition)
            known = (loaded, registered, book)
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


class EventRun(Struct, frozen=True):
    """One event on its way through the house."""

    runtime: Runtime
    event: Event
    key: str
    place: Context
    earlier: Decision | None = None  # the same delivery was decided before
    size: int = 0  # of the delivery, in bytes

    def steps(self) -> Deciding:
        return decide(self.event, self.place.book, self.runtime.store, self.runtime.validate)


def database_of(where: Places, *, low_latency: bool = False) -> Database:
    """The database in which a person's marks and decisions are kept."""
    return open_database(where.state / "snell.db", low_latency=low_latency)


def _problems_to_tell(work: EventRun) -> list[Reason]:
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
    subject = (event.tool_names, event.readable_input, event.kind)
    return holds(rule, *subject, cwd=event.cwd, home=os.path.expanduser("~"))


def _skill_group(path: Path, session_id: str) -> str:
    return f"skill:{os.path.realpath(path)}:{session_id}"
