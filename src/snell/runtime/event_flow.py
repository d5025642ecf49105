"""
The way of one event:

    client.decode(payload) -> Event
      -> prepare       the earlier decision of the same delivery, else the event's Context
      -> decide <-> executor.run(hooks, event, context)
      -> commit        the same delivery gets this decision again, and its row survives a crash
      -> client.encode -> Reply
      -> after_reply   the trace, watchers, the end of a session

`decide` is a generator of the engine: it yields which hooks to run on which event and receives their outcomes. The
three functions at the end drive it: waiting, without waiting, and in an event loop.
"""

import hashlib
import shlex
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.engine.decide import Run, decide
from snell.engine.record import record_of
from snell.model.context import Context, Progress
from snell.model.decision import Decision, Outcome, Reason
from snell.model.effects import Verdict
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.model.protocols import Client, Reply, Validate
from snell.runtime.background_hooks import BackgroundHooks
from snell.runtime.context import ContextBuilder
from snell.runtime.database_journal import StoreJournal
from snell.runtime.executor import Executor
from snell.runtime.failure_warnings import add_warnings, failing_hooks
from snell.runtime.running_skills import follow, may_start_skill, skill_kinds
from snell.runtime.watchers import Job, Watchers

SHOWN_PROBLEMS = 3
# Events with which skills start and end, beside tool calls.
CHANGE_SKILLS = frozenset(
    ("UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SubagentStart", "SubagentStop", "Stop", "StopFailure")
)
KEPT = 1024  # decisions, for deliveries that come again
MOST_BYTES = 32 * 1024 * 1024  # of their payloads; a thousand large ones would fill the memory

_encoder = msgspec.json.Encoder(order="deterministic")

Deciding = Generator[Run, Sequence[Outcome], Decision]
Wait = Callable[[], Sequence[Outcome]]


class EventRun(Struct, frozen=True):
    """One event, with everything that deciding it needs."""

    event: Event
    key: str  # of the delivery
    context: Context
    deciding: Deciding | None
    earlier: Decision | None = None  # the same delivery was decided before
    size: int = 0  # of the delivery, in bytes


def delivery_key(event: Event, request_id: str = "") -> tuple[str, int]:
    """
    Return a key that two calls of the same delivery share, empty when there is none, and its size in bytes.

    Some clients send no id with a call, but the millisecond of the event, which is the same for all hooks of it.
    """
    identity = event.tool_use_id or event.payload.get("timestamp") or request_id
    if not identity:
        return "", 0
    try:
        body = _encoder.encode([event.client, event.session_id, event.name, identity, event.payload])
    except (TypeError, ValueError, OverflowError, RecursionError):  # tools of an embedding program may return anything
        return "", 0
    return hashlib.blake2b(body, digest_size=32).hexdigest(), len(body)


class DecisionCache:
    """
    The last decisions, by delivery: each is decided once. Clients retry, and some read the same hook from two files;
    the second call gets the reply of the first and leaves no second record. A deferred call comes back on purpose and
    is decided again.

    A daemon needs only what is encoded for a client. Without `keeps_rounds` the runs of hooks are left out, so that a
    thousand decisions do not keep the hooks of earlier settings in memory.
    """

    def __init__(self, *, keeps_rounds: bool = True) -> None:
        self._keeps_rounds = keeps_rounds
        self._known: OrderedDict[str, tuple[Decision, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: str) -> Decision | None:
        known = self._known.get(key) if key else None
        return known[0] if known else None

    def keep(self, key: str, decision: Decision, size: int = 0) -> None:
        """
        Add a decision; a rewritten call also under its new input, because a client that runs hook after hook gives the
        second one the result of the first.
        """
        if not self._keeps_rounds:
            decision = replace(decision, rounds=())
        self._keep(key, decision, size)
        if decision.changes and decision.verdict is not Verdict.DENY:
            changed, its_size = delivery_key(decision.event)
            self._keep(changed, decision, its_size)

    def _keep(self, key: str, decision: Decision, size: int) -> None:
        if not key or decision.verdict is Verdict.DEFER:
            return
        self._bytes += size - self._known.pop(key, (None, 0))[1]
        self._known[key] = (decision, size)
        while len(self._known) > KEPT or self._bytes > MOST_BYTES:
            self._bytes -= self._known.popitem(last=False)[1][1]


class EventFlow:
    """What `Runtime` does with each event; `app.py` puts the parts together."""

    contexts: ContextBuilder
    executor: Executor
    decided: DecisionCache
    journal: StoreJournal | None
    background: BackgroundHooks
    watchers: Watchers
    validate: Validate

    def handle(self, client: Client, payload: bytes, request_id: str = "") -> Reply:
        return client.encode(self.decide(client.decode(payload), request_id))

    def decide(self, event: Event, request_id: str = "") -> Decision:
        return self._decide(self.prepare(event, request_id))

    def _decide(self, work: EventRun) -> Decision:
        decision = work.earlier or self.commit(work, self.run_to_end(work))
        self.after_reply(work, decision)
        return decision

    async def decide_async(self, event: Event, request_id: str = "", env: Mapping[str, str] | None = None) -> Decision:
        """Decide one event without blocking the loop; `env` is the caller's environment where it is not our own."""
        work = self.prepare(event, request_id, env)
        decision = work.earlier
        if decision is None:
            assert work.deciding
            decision = self.commit(work, await run_decision_async(work.deciding, self.executor, work.context))
        self.after_reply(work, decision)
        return decision

    def stream(self, event: Event, request_id: str = "") -> "DecisionProgress":
        """Decide one event while its caller sees each hook start and end: `async for progress in stream`."""
        return DecisionProgress(self, event, request_id)

    def run_batch(self, event: Event, request_id: str = "") -> list[Outcome]:
        """Return all outcomes of one event, for a caller that shows no progress; refuses prompt and agent hooks."""
        decision = self._decide(self.prepare(event, request_id, is_interactive=False))
        return [outcome for _, _, outcome in decision.runs()]

    def prepare(
        self, event: Event, request_id: str = "", env: Mapping[str, str] | None = None, **changes: Any
    ) -> EventRun:
        """
        Return what deciding this event needs; `changes` are fields of its context, such as the id of the decision.

        The caller calls `commit` before the reply leaves and `after_reply` after it.
        """
        key, size = delivery_key(event, request_id)
        if earlier := self.decided.get(key):
            return EventRun(event, key, self.contexts.base, None, earlier, size)
        context = self.contexts.context_for(event, env, changes.pop("decision_id", ""))
        if changes:
            context = replace(context, **changes)
        return EventRun(event, key, context, decide(event, context.registry, context.marks, self.validate), None, size)

    def run_to_end(self, work: EventRun) -> Decision:
        """Decide a prepared event."""
        assert work.deciding
        return run_decision(work.deciding, self.executor, work.context)

    def commit(self, work: EventRun, decision: Decision) -> Decision:
        """Make the decision last: the same delivery gets it again, and its row survives a crash."""
        name, loader = work.event.name, self.contexts.loader
        problems = _problems_to_tell(work.event, work.context) if name == "SessionStart" else []
        starts_skill = work.event.kind in skill_kinds(work.event.client) and may_start_skill(work.event)
        if loader and (name in CHANGE_SKILLS or starts_skill) and work.event.session_id:
            problems += follow(decision, work.context, loader.skill)
        if decision.failures:
            decision = add_warnings(decision, work.context)
        if decision.env and (file := work.context.env.get("CLAUDE_ENV_FILE")):
            problems += _export(decision.env, file)
        decision = replace(
            decision,
            id=work.context.decision_id,
            tells=(*problems, *decision.tells),
            in_ledger=decision.in_ledger and work.context.database is not None,
        )
        if self.journal:
            self.journal.commit(decision, work.key)
            if name == "SessionStart" and self.journal.problem:
                told = Reason("snell", f"snell: nothing is recorded: {self.journal.problem}")
                decision = replace(decision, tells=(told, *decision.tells))
        self.decided.keep(work.key, decision, work.size)
        return decision

    def after_reply(self, work: EventRun, decision: Decision) -> None:
        """Do what the client need not wait for: the trace, watchers, the end of a session."""
        self.after_replies([(work, decision)])

    def after_replies(self, decided: Iterable[tuple[EventRun, Decision]], *, stays_here: bool = False) -> None:
        """
        Do the same for several decisions, whose traces are then written together.

        `stays_here`: watchers that only write rows run in this thread.
        """
        new = [(work, decision) for work, decision in decided if not work.earlier]
        if new and self.journal:
            self.journal.record(*(self.record_of(decision, work.context) for work, decision in new))
        jobs: list[Job] = []
        for work, decision in new:
            self.contexts.dynamic_hooks.call_on_success(decision)
            if decision.event.name == "SessionEnd" and decision.event.session_id:
                self.background.cancel(decision.event.session_id)  # also what an event just before it has begun
            jobs += self.watchers.jobs_after(decision, work.context, work.size)
        self.watchers.run(jobs, stays_here=stays_here)
        for _, decision in new:
            if decision.event.name == "SessionEnd":
                self.forget_session(decision.event.session_id)

    def record_of(self, decision: Decision, context: Context | None = None) -> dict[str, Any]:
        """Return everything there is to know about a decision of this runtime."""
        context = context or self.contexts.context_for(decision.event)
        return record_of(decision, context.registry.skipped_hooks(decision.event, context.marks), context.problems)

    def forget_session(self, session_id: str) -> None:
        """Drop a session's marks, except the lasting ones, and the hooks that were registered for it."""
        self.contexts.base.marks.drop(f"session:{session_id}")
        if session_id:
            self.contexts.dynamic_hooks.remove(lambda hook: hook.session_id == session_id)


class DecisionProgress:
    """
    A decision whose caller sees every hook start and end, reads status messages, and may cancel, from any thread.

    Iterate with `async for`; the last progress has the decision.
    """

    def __init__(self, runtime: EventFlow, event: Event, request_id: str) -> None:
        self.decision: Decision | None = None
        self._runtime = runtime
        self._event = event
        self._request_id = request_id
        self._cancel = threading.Event()

    def cancel(self) -> None:
        """Stop the hooks that still run; each is then cancelled, which its failure policy judges."""
        self._cancel.set()

    async def __aiter__(self) -> AsyncIterator[Progress]:
        import asyncio  # slow to import, and few callers watch

        loop = asyncio.get_running_loop()
        news: asyncio.Queue[Progress | None] = asyncio.Queue()

        def show(progress: Progress) -> None:
            loop.call_soon_threadsafe(news.put_nowait, progress)

        runtime = self._runtime
        work = runtime.prepare(self._event, self._request_id, progress=show, cancel=self._cancel)
        self.decision = work.earlier
        if work.deciding:
            deciding = asyncio.ensure_future(run_decision_async(work.deciding, runtime.executor, work.context))
            deciding.add_done_callback(lambda _: news.put_nowait(None))
            try:
                while (progress := await news.get()) is not None:
                    yield progress
            finally:
                if not deciding.done():  # the caller has stopped listening, but the event is decided all the same
                    self.cancel()
                self.decision = runtime.commit(work, await deciding)
                runtime.after_reply(work, self.decision)
        yield Progress("decided", decision=self.decision)


def _problems_to_tell(event: Event, context: Context) -> list[Reason]:
    """Return the first problems, for the start of a session: a user must get to know that a hook is off or fails."""
    problems = (*context.problems, *failing_hooks(event, context))
    more = len(problems) - SHOWN_PROBLEMS
    texts = [*problems[:SHOWN_PROBLEMS], *([f"{more} more; see `snell settings`"] if more > 0 else [])]
    return [Reason("snell", f"snell: {text}") for text in texts]


class BlockingExecutor(Protocol):
    def run(self, hooks: Sequence[Hook], event: Event, context: Context) -> Sequence[Outcome]: ...


def run_decision(deciding: Deciding, executor: BlockingExecutor, context: Context) -> Decision:
    """Drive a decision to its end, waiting for each round."""
    try:
        asked = next(deciding)
        while True:
            asked = deciding.send(executor.run(asked.hooks, asked.event, context))
    except StopIteration as done:
        decision: Decision = done.value
        return decision


def run_decision_until_wait(
    deciding: Deciding, executor: Executor, context: Context, outcomes: Sequence[Outcome] | None = None
) -> Decision | Wait:
    """Drive a decision without waiting: to its end, or to what a thread must wait for before the next call."""
    try:
        asked = next(deciding) if outcomes is None else deciding.send(outcomes)
        while True:
            outcomes_or_wait = executor.run_at_once(asked.hooks, asked.event, context)
            if callable(outcomes_or_wait):
                return outcomes_or_wait
            asked = deciding.send(outcomes_or_wait)
    except StopIteration as done:
        decision: Decision = done.value
        return decision


async def run_decision_async(deciding: Deciding, executor: Executor, context: Context) -> Decision:
    """Drive a decision in an event loop."""
    try:
        asked = next(deciding)
        while True:
            asked = deciding.send(await executor.run_async(asked.hooks, asked.event, context))
    except StopIteration as done:
        decision: Decision = done.value
        return decision


def _export(variables: Mapping[str, str], path: str) -> list[Reason]:
    """Write the variables that hooks set into the file that the client reads before its next commands."""
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in variables.items() if name.isidentifier()]
    try:
        with open(path, "a", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(lines)
    except OSError as error:
        return [Reason("snell", f"snell: variables of hooks are not set: {error}")]
    return []
