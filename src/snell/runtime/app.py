"""
The runtime: built once, used for many events, then closed. `event_flow.py` has the way of one event through it.

`Runtime.embed(...)` builds one inside another program, `Runtime.for_user()` the one that a user's settings describe.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.json_schema import TOOL_SCHEMAS, Schema, validator
from snell.handlers.worker.client import Worker
from snell.model.context import Context
from snell.model.decision import Decision
from snell.model.errors import StoreError
from snell.model.events import Event, event_from
from snell.model.hooks import LONGEST_TIMEOUT, Hook, Scope, Switches
from snell.model.protocols import Database, Store, TeamSync
from snell.runtime.background_hooks import BackgroundHooks
from snell.runtime.callback_hooks import OnSuccess, Registration, as_hooks, event_named, hooks_from
from snell.runtime.context import ContextBuilder, new_id
from snell.runtime.database_journal import StoreJournal
from snell.runtime.event_flow import DecisionCache, EventFlow, delivery_key
from snell.runtime.executor import Executor
from snell.runtime.hook_loader import HookLoader
from snell.runtime.pending_rows import FOLDER, PendingRows
from snell.runtime.stored_marks import StoredMarks
from snell.runtime.watchers import Watchers
from snell.store import open_database
from snell.store.in_memory import InMemoryStore
from snell.system.paths import Places, places

if TYPE_CHECKING:
    from snell.records.audit_log import AuditLog


class Storage(Struct, frozen=True):
    """Where a runtime keeps its rows and files; an embedded one may have neither."""

    database: Database | None = None
    journal: StoreJournal | None = None
    where: Places | None = None


class Runtime(EventFlow):
    """Build one, use it for many events, close it."""

    def __init__(
        self,
        context: Context,
        storage: Storage | None = None,
        worker: Worker | None = None,
        loader: HookLoader | None = None,
    ) -> None:
        """`context` has what all events share; without a `loader` only registered hooks run."""
        storage = storage or Storage()
        where = storage.where
        self.database, self.journal, self.where = storage.database, storage.journal, where
        self.team: TeamSync | None = None  # the daemon's, when work is shared with other machines
        self.validate = validator(TOOL_SCHEMAS)
        self.background = BackgroundHooks()
        self.executor = Executor(worker)
        self.decided = DecisionCache()
        self.watchers = Watchers(self.executor, self.background, context.marks, self.journal, self.database)
        base = replace(context, database=self.database, begin=self.background.begin)
        if where:
            base = replace(base, state=where.state, config=where.config)
        self.contexts = ContextBuilder(base, loader, self.watchers.enter_late)

    @cached_property
    def audit_log(self) -> "AuditLog | None":
        """The runtime's audit log; None for an embedded runtime. Loaded on first use: the first reply needs none."""
        if self.database is None or self.where is None:
            return None
        from snell.records.audit_log import AuditLog

        return AuditLog(self.database, self.where.state)

    @classmethod
    def embed(
        cls,
        *functions: Hook | Callable[..., Any],
        hooks: Registration | None = None,
        database: Database | None = None,
        journal: StoreJournal | None = None,
        where: Places | None = None,
        worker: Worker | None = None,
        switches: Switches | None = None,
        schemas: Mapping[str, Schema] = TOOL_SCHEMAS,
        **context: Any,
    ) -> "Runtime":
        """
        Build a runtime inside another program: no settings files, the program's own functions in its own process.

        Further arguments are fields of the `Context` that all events share, such as `env` or `is_interactive`.
        """
        # The embedding program answers for the folder in which it runs.
        trust = dict.fromkeys(("is_trusted", "trusts_notes", "trusts_mission"), True)
        own = {"env": dict(os.environ), "marks": InMemoryStore(), **trust}
        runtime = cls(Context(**{**own, **context}), Storage(database, journal, where), worker)
        runtime.contexts.switches = switches or Switches()
        runtime.validate = validator(schemas)
        runtime.register(*functions, *hooks_from(hooks or {}))
        return runtime

    @classmethod
    def for_user(
        cls, env: Mapping[str, str] | None = None, where: Places | None = None, *, keep_open: bool = False
    ) -> "Runtime":
        """Build what the user's settings describe; with `keep_open` rows may reach the database after the reply."""
        env = dict(os.environ if env is None else env)
        where = where or places(env)
        worker = Worker(env)
        database = database_of(where, low_latency=keep_open)
        journal = StoreJournal(database, pending=PendingRows(where.state / FOLDER) if keep_open else None)
        context = Context(env=env, marks=StoredMarks(database))
        runtime = cls(context, Storage(database, journal, where), worker, HookLoader(where, env, worker))
        runtime.decided = DecisionCache(keeps_rounds=not keep_open)
        return runtime

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def store(self) -> Store:
        return self.contexts.base.marks

    @property
    def env(self) -> Mapping[str, str]:
        """Return the environment of this process."""
        return self.contexts.base.env

    def context_for(self, event: Event, env: Mapping[str, str] | None = None) -> Context:
        """Return what applies to this event."""
        return self.contexts.context_for(event, env)

    def fire(self, name: str, **payload: Any) -> Decision:
        """Decide an event from its fields: `runtime.fire("PreToolUse", tool_name="Bash", tool_input={...})`."""
        return self.decide(event_from(payload, event_named(name)))

    async def fire_async(self, name: str, **payload: Any) -> Decision:
        """Decide an event from its fields without blocking the loop."""
        return await self.decide_async(event_from(payload, event_named(name)))

    def register(
        self,
        *hooks: Hook | Callable[..., Any],
        scope: Scope = Scope.SESSION,
        group: str = "",
        session_id: str = "",
        on_success: OnSuccess | None = None,
    ) -> list[Hook]:
        """Add hooks at run time: ready-made ones, or functions with a role decorator."""
        added = [each for item in hooks for each in as_hooks(item, scope)]
        if group or session_id:
            added = [replace(hook, group=group or hook.group, session_id=session_id) for hook in added]
        self.contexts.dynamic_hooks.add(added, on_success)
        return added

    def unregister(self, *, layer: str = "", group: str = "", scope: Scope | None = None) -> int:
        """Remove registered hooks by their layer, group or scope; returns how many."""

        def is_removed(hook: Hook) -> bool:
            by_name = (layer and hook.source.layer == layer) or (group and hook.group == group)
            return bool(by_name) or (scope is not None and hook.scope is scope)

        return self.contexts.dynamic_hooks.remove(is_removed)

    def earlier_decision(self, event: Event, request_id: str) -> str:
        """Return the id of the decision that a process made about this event and could not send; else nothing."""
        return self.journal.id_of_delivery(delivery_key(event, request_id)[0]) if self.journal else ""

    def fails_closed(self, cwd: str = "", env: Mapping[str, str] | None = None) -> bool:
        """Return whether a payload that cannot be read is refused: a guard is active that blocks when it fails."""
        registry = self.context_for(Event(name="PreToolUse", payload={"cwd": cwd}), env=env).registry
        why_disabled = registry.switches.why_disabled
        active = (hook for hook in registry.hooks() if hook.enabled and not hook.untrusted and not why_disabled(hook))
        return any(hook.can_judge and hook.failure_policy == "block" for hook in active)

    def close(self) -> None:
        """Wait for watchers and for hooks in the background, each for no longer than its own limit."""
        from snell.system.run_program import background_runs, end_background_runs  # slow, and not needed before

        self.executor.close()
        deadline = time.monotonic() + LONGEST_TIMEOUT
        while background_runs() and time.monotonic() < deadline:
            time.sleep(0.01)
        end_background_runs()
        if self.journal:
            self.journal.close()
        self.watchers.ledger.catch_up_at_end()
        if self.database:
            if self.audit_log:
                self.audit_log.keep_up(at_once=True)
            with suppress(StoreError):
                self.database.checkpoint()
            self.database.close()


def database_of(where: Places, *, low_latency: bool = False) -> Database:
    """Return the database in which a user's marks and decisions are kept."""
    return open_database(where.state / "snell.db", low_latency=low_latency)


def record_admin_action(where: Places, event: str, text: str, session_id: str = "") -> str:
    """Add what a user did to Snell itself to the journal; returns the error that kept it from being recorded."""
    record = {"id": new_id(), "client": "person", "event": event, "verdict": "no_opinion", "merge": [text]}
    if session_id:
        record["session_id"] = session_id
    with suppress(OSError):
        record["cwd"] = os.getcwd()
    database = database_of(where)
    journal = StoreJournal(database)
    try:
        journal.record(record)
    except StoreError as error:
        return str(error)
    finally:
        database.close()
    return journal.problem
