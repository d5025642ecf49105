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

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.decide import Run, decide
from snell.engine.record import record_of
from snell.model.context import Context
from snell.model.decision import Decision, Outcome, Reason
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.model.protocols import Client, Reply, Validate
from snell.runtime.background_hooks import BackgroundHooks
from snell.runtime.context import ContextBuilder
from snell.runtime.dedupe import DecisionCache, delivery_key
from snell.runtime.executor import Executor
from snell.runtime.journal import Journal, NoJournal
from snell.runtime.watchers import Job, Watchers

SHOWN_PROBLEMS = 3

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


class EventFlow:
    """What `Runtime` does with each event; `app.py` puts the parts together."""

    contexts: ContextBuilder
    executor: Executor
    decided: DecisionCache
    journal: Journal
    background: BackgroundHooks
    watchers: Watchers
    validate: Validate

    def handle(self, client: Client, payload: bytes, request_id: str = "") -> Reply:
        """Answer one payload."""
        return client.encode(self.decide(client.decode(payload), request_id))

    def decide(self, event: Event, request_id: str = "") -> Decision:
        """Decide one event and wait for it."""
        work = self.prepare(event, request_id)
        decision = work.earlier or self.commit(work, self.run_to_end(work))
        self.after_reply(work, decision)
        return decision

    async def decide_async(self, event: Event, request_id: str = "") -> Decision:
        """Decide one event without blocking the loop."""
        work = self.prepare(event, request_id)
        decision = work.earlier
        if decision is None:
            assert work.deciding
            decision = self.commit(work, await run_decision_async(work.deciding, self.executor, work.context))
        self.after_reply(work, decision)
        return decision

    def prepare(
        self, event: Event, request_id: str = "", env: Mapping[str, str] | None = None, **changes: Any
    ) -> EventRun:
        """
        Return what deciding this event needs; `changes` are fields of its context.

        The caller calls `commit` before the reply leaves and `after_reply` after it.
        """
        key, size = delivery_key(event, request_id)
        if earlier := self.decided.get(key):
            return EventRun(event, key, self.contexts.base, None, earlier, size)
        context = self.contexts.context_for(event, env)
        if changes:
            context = replace(context, **changes)
        return EventRun(event, key, context, decide(event, context.registry, context.marks, self.validate), None, size)

    def run_to_end(self, work: EventRun) -> Decision:
        """Decide a prepared event."""
        assert work.deciding
        return run_decision(work.deciding, self.executor, work.context)

    def commit(self, work: EventRun, decision: Decision) -> Decision:
        """Make the decision last: the same delivery gets it again, and its row survives a crash."""
        problems = _problems_to_tell(work.context) if work.event.name == "SessionStart" else ()
        decision = replace(
            decision,
            id=work.context.decision_id,
            tells=(*problems, *decision.tells),
            in_ledger=decision.in_ledger and work.context.database is not None,
        )
        self.decided.keep(work.key, decision, work.size)
        self.journal.commit(decision, work.key)
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
        if new and not isinstance(self.journal, NoJournal):
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


def _problems_to_tell(context: Context) -> list[Reason]:
    """Return the first problems, for the start of a session: a user must get to know that a hook is off."""
    problems = context.problems
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
