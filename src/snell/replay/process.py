"""
The process that decides events again. It has a runtime like the daemon's, but no database and no journal, and before
the first event it gives up the right to write and to connect.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.decide import decide
from snell.handlers.worker.client import Worker
from snell.model.context import Context
from snell.model.decision import QUIET, Decision, Outcome
from snell.model.errors import SnellError, StoreError
from snell.model.events import Event
from snell.model.hooks import Hook, Inline, PythonFile
from snell.model.protocols import Database
from snell.packs.recording.files import kind_of_file
from snell.replay.clock import RecordedClock
from snell.replay.compare import change_of, compare
from snell.replay.hooks_without_answer import not_run, why_no_answer
from snell.replay.recorded_event import RecordedEvent, Replayed, SessionResult, pack_events, unpack_events
from snell.replay.sandbox import enter_sandbox
from snell.runtime.app import Runtime, Storage
from snell.runtime.event_flow import EventRun, run_decision
from snell.runtime.executor import Executor
from snell.runtime.hook_loader import HookLoader
from snell.store.in_memory import InMemoryStore
from snell.system.paths import Places
from snell.testing.run_cases import under_test

CLOCK = "<clock>"


class Variant(Struct, frozen=True):
    """Which hooks decide: those of the settings in `config`, with the hooks of files, without those of some names."""

    where: Places
    config: str
    scratch: str  # the folder in which hooks may write
    added: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    runs_commands: bool = False

    def removes(self, hook: Hook) -> bool:
        """Return whether the hook was named to be left out, with or without its pack."""
        return hook.id in self.without or hook.id.rpartition("/")[2] in self.without


class ReplayExecutor:
    """Runs Python hooks at the time of the event; counts and leaves out what reaches beyond this process."""

    def __init__(self, executor: Executor, variant: Variant, clock: RecordedClock) -> None:
        self.at = 0
        self.skipped: Counter[str] = Counter()
        # Of the event that is decided now: the hooks that ran, and the kinds of those that were skipped.
        self.ran: set[str] = set()
        self.kinds: dict[str, str] = {}
        self.judges: set[str] = set()  # of those, the ones that could have changed the verdict
        self.connecting: set[str] = set()  # the Python hooks that tried to open a connection
        self._executor, self._variant, self._clock = executor, variant, clock
        self._plans: dict[int, tuple[Sequence[Hook], tuple[Hook, ...], tuple[Hook, ...]]] = {}

    def run(self, hooks: Sequence[Hook], event: Event, context: Context) -> Sequence[Outcome]:
        plan = self._plans.get(id(hooks))
        if plan is None or plan[0] is not hooks:
            plan = self._plans[id(hooks)] = (hooks, *self._divide(hooks))
        _, kept, skipped = plan
        for hook in skipped:
            self.skipped[f"{hook.handler.kind} hook `{hook.id}`"] += 1
            self.kinds[hook.id] = hook.handler.kind
            self.judges |= {hook.id} if hook.can_judge or hook.role == "rewrites" else set()
        self.ran.update(hook.id for hook in kept)
        if not kept:
            return [QUIET] * len(hooks)
        self._clock.show(self.at)
        try:
            outcomes = self._executor.run(kept if len(kept) < len(hooks) else hooks, event, context)
        finally:
            self._clock.hide()
        if files := self._clock.connecting():
            found = {hook.id: hook.handler for hook in kept}
            self.connecting |= {name for name, it in found.items() if isinstance(it, PythonFile) and it.path in files}
        if len(kept) == len(hooks):
            return outcomes
        known = dict(zip(kept, outcomes, strict=True))
        return [known.get(hook, QUIET) for hook in hooks]

    def _divide(self, hooks: Sequence[Hook]) -> tuple[tuple[Hook, ...], tuple[Hook, ...]]:
        wanted = [hook for hook in hooks if not self._variant.removes(hook)]
        kept = tuple(hook for hook in wanted if self._is_run(hook))
        return kept, tuple(hook for hook in wanted if hook not in kept)

    def _is_run(self, hook: Hook) -> bool:
        is_command = hook.handler.kind == "command" and self._variant.runs_commands
        return isinstance(hook.handler, Inline | PythonFile) or is_command


class NoRows(Database):
    """A database that only notices that it was asked."""

    was_asked = False

    def run(self, work: Any, *, only_reads: bool = False) -> Any:
        self.was_asked = True
        raise StoreError("the rows of that time are not kept")

    def close(self) -> None:
        return


class Replayer:
    """Decides the events of sessions again."""

    def __init__(self, variant: Variant, env: Mapping[str, str]) -> None:
        self.env = {name: value for name, value in env.items() if name != "CLAUDE_ENV_FILE"}
        worker = Worker(self.env)
        clock = RecordedClock(Path(variant.scratch))
        worker.load(CLOCK, "1", clock.source)
        loader = HookLoader(replace(variant.where, config=Path(variant.config)), self.env, worker)
        self.marks = InMemoryStore()
        context = Context(env=self.env, marks=self.marks)
        self.runtime = Runtime(context, Storage(where=variant.where), worker, loader)
        added = [hook for path in variant.added for hook in under_test(Path(path), loader.files).hooks]
        self.runtime.register(*added)
        self.added = frozenset(hook.id for hook in added)
        self.executor = ReplayExecutor(self.runtime.executor, variant, clock)

    def replay(self, events: Sequence[RecordedEvent]) -> SessionResult:
        """Decide the events of one session in their order; marks that hooks leave count for the later ones."""
        self.executor.skipped.clear()
        self.marks._scopes.clear()
        failed: Counter[str] = Counter()
        is_whole = any(each.name == "SessionStart" for each in events[:3]) or not any(each.id for each in events)
        results = [found for each in events if (found := self._replay(each, failed, is_whole=is_whole))]
        return SessionResult(results, dict(self.executor.skipped), dict(failed))

    def _replay(self, recorded: RecordedEvent, failed: Counter[str], *, is_whole: bool) -> Replayed | None:
        decision = None
        if not recorded.unknown:
            decision = self._decide(recorded)
            failed.update(each.hook for each in decision.failures)
        if recorded.marks is not None:
            self.marks._scopes[f"session:{recorded.session}"] = dict(recorded.marks)
        if not recorded.is_counted:
            return None
        why = recorded.unknown or why_no_answer(recorded, decision, self.executor)
        if decision is not None and not why and (change := change_of(recorded.verdict, decision)):
            if change < 0:
                why = self._why_unknown(recorded, is_whole=is_whole)
            elif decision.reasons[0].hook not in self.added:
                why = _changed_file(recorded)  # a hook that ran then, too, may have seen other files
        return compare(recorded, decision, why)

    def _decide(self, recorded: RecordedEvent, database: Database | None = None) -> Decision:
        event = recorded.to_event()
        env = {**self.env, "HOME": recorded.home} if recorded.home else self.env
        context = self.runtime.contexts.context_for(event, env)
        if database is not None:
            context = replace(context, database=database)
        self.executor.at = recorded.at
        for found in (self.executor.kinds, self.executor.judges, self.executor.ran, self.executor.connecting):
            found.clear()
        deciding = decide(event, context.registry, context.marks, self.runtime.validate)
        decision = run_decision(deciding, self.executor, context)
        return self.runtime.commit(EventRun(event, "", context, None), decision)

    def _why_unknown(self, recorded: RecordedEvent, *, is_whole: bool) -> str:
        """Return what the hooks of the earlier verdict would need that is gone; empty if nothing is known to be."""
        for hook in recorded.hooks:
            if kind := self.executor.kinds.get(hook):
                return not_run(hook, kind)
        if self.executor.ran.isdisjoint(recorded.hooks):
            return ""  # none of them is active any more
        cwd = str(recorded.payload.get("cwd", ""))
        if cwd and not os.path.isdir(cwd):
            return f"its folder `{cwd}` is gone"
        if changed := _changed_file(recorded):
            return changed
        rows = NoRows()
        self._decide(recorded, rows)
        if rows.was_asked:
            return "a hook needs rows of the database as they were"
        return "" if is_whole else "the session began earlier, so marks are missing"


def _changed_file(recorded: RecordedEvent) -> str:
    """Return which file that the event names is not what it was then; empty if none, or if that was not kept."""
    changed = next((path for path, kind in recorded.files.items() if kind != kind_of_file(path)), "")
    return f"`{changed}` is not what it was" if changed else ""


class Prepared(Struct):
    """What this process has: a replayer or the reason why there is none, and what the system could not deny."""

    replayer: Replayer | None = None
    problem: str = ""
    not_denied: list[str] = []


_prepared = Prepared()


def begin(variant: Variant, env: Mapping[str, str]) -> None:
    """Prepare this process, once; from here on it can neither write nor connect."""
    scratch = os.path.join(variant.scratch, str(os.getpid()))
    os.mkdir(scratch, 0o700)
    os.environ["TMPDIR"] = scratch
    _prepared.not_denied = enter_sandbox(scratch)
    try:
        _prepared.replayer = Replayer(replace(variant, scratch=scratch), {**env, "TMPDIR": scratch})
    except SnellError as error:
        _prepared.problem = str(error)


def replay_session(packed: bytes) -> tuple[bytes, Prepared]:
    """Decide the events of one session again; returns what became of them, and how this process is prepared."""
    found = _prepared.replayer.replay(unpack_events(packed)) if _prepared.replayer else SessionResult([])
    return pack_events(found), replace(_prepared, replayer=None)
