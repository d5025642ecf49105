"""
Answers the daemon's requests: at once where no hook has to wait, else without delaying the other requests.

The engine, the marks and the journal belong to the loop's thread; only slow hooks and the reading of large payloads
go to other threads. The small row of an event is written before its reply is sent, everything else after it.
"""

import time
from collections import deque
from collections.abc import Callable, Coroutine
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from snell.daemon.wire import LazyEnvironment, Request
from snell.model.catalogue import can_be_refused
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.errors import SnellError, StoreBusyError, StoreError
from snell.model.events import Event
from snell.model.protocols import Client, Database, Reply
from snell.runtime.app import Runtime
from snell.runtime.event_flow import Deciding, EventRun, Wait, run_decision_until_wait
from snell.runtime.executor import PendingBatch
from snell.runtime.hook_request import TwinFilter, parse_hook_args, reply_to, undecided_reply

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

Send = Callable[[Reply], bool | None]  # False: the caller has the event decided elsewhere

# Work after the reply costs about half when several events share it: one transaction, and code that is in the caches.
QUIET_FOR = 0.15  # seconds without a request after which traces are written and watchers run
LONGEST_DELAY = 1.0  # seconds after which the next short pause is enough
PAUSE = 0.01  # seconds: after a reply its client often sends the next request
MOST_DELAYED = 128  # decisions after which they are written at once
TOGETHER = 16  # decisions whose traces are written at a time; requests that come meanwhile wait for them
QUEUE = 1_000  # decisions whose trace waits; with more, the traces of decisions without an effect are dropped
LOCKED = 0.1  # seconds until the next try to write, while another program has locked the database
BACKLOG = 200  # events whose watchers still run; the next ones wait in the queue
LARGE = 32_000  # bytes of payload whose reading and judging would delay other requests
REPORTED = ("PreCompact", "SessionEnd")  # hooks that report on the session then need the traces of all its events
COMPARED = 100_000  # bytes of payload up to which a second call with the same text is looked for


class RequestHandler:
    """Decides events for `snell-hook`, one request at a time, and follows them up when it is quiet."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.dropped = 0  # decisions whose trace was not written
        self._to_follow: deque[tuple[EventRun, Decision]] = deque()
        self._latest = 0.0  # when the last reply was sent
        self._overdue = 0.0  # when the follow-up has waited for long enough
        self._timer: asyncio.TimerHandle | None = None  # of the next follow-up
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deciding: dict[str, list[Send]] = {}  # further requests with a delivery that is being decided
        self._twins = TwinFilter()
        self._is_locked_out = False  # another program has locked the database
        self.changed_code: SnellError | None = None  # then clients that fail closed get no other answer

    def start(self, loop: "asyncio.AbstractEventLoop") -> None:
        """Follow decisions up in this loop from now on; those that were made before wait for it."""
        self._loop = loop
        if self._to_follow:
            self._timer = loop.call_later(QUIET_FOR, self._follow_up_when_quiet)

    def serve(self, request: Request, send: Send) -> Coroutine[Any, Any, None] | None:
        """Answer a request through `send`, now or by the coroutine that is returned; no exception gets past it."""
        try:
            waiting = self._serve(request, send)
        except Exception as error:  # noqa: BLE001 - whatever happens, the client waits for a reply
            send(self._failure_reply(error, request))
            return None
        return self._await_or_fail(waiting, request, send) if waiting else None

    async def _await_or_fail(self, waiting: Coroutine[Any, Any, None], request: Request, send: Send) -> None:
        try:
            await waiting
        except Exception as error:  # noqa: BLE001 - likewise
            send(self._failure_reply(error, request))

    def _failure_reply(self, error: Exception, request: Request) -> Reply:
        return undecided_reply(error, request.stdin, self.runtime, request.cwd, request.argv, LazyEnvironment(request))

    def _serve(self, request: Request, send: Send) -> Coroutine[Any, Any, None] | None:
        if len(request.stdin) > LARGE:
            return self._serve_large(request, send)
        env = LazyEnvironment(request)
        call = parse_hook_args(request.argv)
        client, event = call.decode_payload(request.stdin, request.cwd, env)
        if call.is_rewake:
            return self._serve_rewake(event, send)
        return self._serve_event(client, event, call.source, request, env, send)

    def _is_refused(self, event: Event, request: Request, env: LazyEnvironment) -> bool:
        """Return whether a call is refused because Snell itself cannot be trusted."""
        is_closed = "--fail-closed" in request.argv or self.runtime.fails_closed(event.cwd, env)
        return is_closed and can_be_refused(event.name)

    def _serve_event(
        self, client: Client, event: Event, source: str, request: Request, env: LazyEnvironment, send: Send
    ) -> Coroutine[Any, Any, None] | None:
        if self.changed_code and self._is_refused(event, request, env):
            raise self.changed_code
        request_id, size = request.request_id, len(request.stdin)
        if not event.tool_use_id and size <= COMPARED:
            request_id = self._twins.request_of(event, source, request_id, time.monotonic())
        if event.name in REPORTED and self._to_follow:
            self.follow_up(all_at_once=True)
        changes: dict[str, Any] = {"is_large": True} if size > LARGE else {}
        earlier = self.runtime.earlier_decision(event, request_id) if request.is_repeated else ""
        work = self.runtime.prepare(event, request_id, env, decision_id=earlier, **changes)
        if work.deciding is None:
            assert work.earlier
            send(reply_to(client, work.earlier, request.sender))
            return None
        if work.key in self._deciding:
            self._deciding[work.key].append(send)
            return None
        came = run_decision_until_wait(work.deciding, self.runtime.executor, work.context)
        if isinstance(came, Decision):
            self._finish(client, work, came, request, send)
            return None
        if work.key:
            self._deciding[work.key] = []
        return self._serve_slowly(client, work, work.deciding, came, request, send)

    async def _serve_slowly(
        self, client: Client, work: EventRun, deciding: Deciding, wait: Wait, request: Request, send: Send
    ) -> None:
        """Decide with waits in threads; requests with the same delivery that come meanwhile get the same reply."""
        assert self._loop
        try:
            came: Decision | Wait = wait
            while not isinstance(came, Decision):
                waited = await self._loop.run_in_executor(self._thread_for(came), came)
                came = run_decision_until_wait(deciding, self.runtime.executor, work.context, waited)
            reply = self._finish(client, work, came, request, send)
        except Exception as error:  # noqa: BLE001 - likewise
            reply = self._failure_reply(error, request)
            send(reply)
        for send_twin in self._deciding.pop(work.key, ()):
            send_twin(reply)

    async def _serve_rewake(self, event: Event, send: Send) -> None:
        runtime = self.runtime
        watchers = runtime.context_for(event).registry.pick(event, runtime.store).watchers
        send(await runtime.background.reply_when_done(event, watchers))

    def _thread_for(self, wait: Wait) -> "ThreadPoolExecutor | None":
        """
        Return the threads to wait in. A batch that has begun holds the worker process until it is finished.

        INVARIANT: there is always a thread to finish it in; all others may be waiting for that process.
        """
        return self._batch_thread if isinstance(getattr(wait, "__self__", None), PendingBatch) else None

    async def _serve_large(self, request: Request, send: Send) -> None:
        call = parse_hook_args(request.argv)
        env = LazyEnvironment(request)
        read = partial(call.decode_payload, request.stdin, request.cwd, env)
        async with self._reading:  # one at a time, or small payloads would wait long
            assert self._loop
            client, event = await self._loop.run_in_executor(None, read)
        waiting = self._serve_event(client, event, call.source, request, env, send)
        if waiting:
            await waiting

    def _finish(self, client: Client, work: EventRun, decision: Decision, request: Request, send: Send) -> Reply:
        decision = self.runtime.commit(work, decision)
        is_asking = decision.verdict is Verdict.ASK
        reply = reply_to(client, decision, request.sender) if is_asking else client.encode(decision)
        if send(reply) is False and self.runtime.journal:
            self.runtime.journal.retract(decision.id)
            return reply
        if len(self._to_follow) >= QUEUE and self._is_locked_out and _can_drop_trace(decision):
            self.dropped += 1  # its small row is kept, from which the ledger gets its own when it can be written
            self.runtime.watchers.ledger.note_missing()
            return reply
        self._to_follow.append((work, decision))
        self._latest = time.monotonic()
        if len(self._to_follow) == 1:
            self._overdue = self._latest + LONGEST_DELAY
            if self._loop and not self._timer:
                self._timer = self._loop.call_later(QUIET_FOR, self._follow_up_when_quiet)
        elif len(self._to_follow) == MOST_DELAYED and self._loop:
            self._loop.call_soon(self.follow_up)
        return reply

    def _follow_up_when_quiet(self) -> None:
        """Wait until no request has come for a while, or for a moment when decisions have waited for long."""
        assert self._loop
        self._timer = None
        if not self._to_follow:
            return
        now = time.monotonic()
        is_late = now >= self._overdue
        due = self._latest + (PAUSE if is_late else QUIET_FOR)
        if now < due and now < self._overdue + LONGEST_DELAY:
            again = due if is_late else self._overdue  # each look costs as much as a part of an event
            self._timer = self._loop.call_later(again - now, self._follow_up_when_quiet)
        else:
            self.follow_up()

    def follow_up(self, *, all_at_once: bool = False) -> None:
        """Write traces and run watchers, a few events at a time, so that no request waits for long."""
        if self._loop and not all_at_once:
            self._is_locked_out = not _is_writable(self.runtime.database)
            if self._is_locked_out:
                self._loop.call_later(LOCKED, self.follow_up)  # rows that cannot be written wait in the queue
                return
            self._shorten_queue()
            if self.runtime.executor.backlog >= BACKLOG:
                self._loop.call_later(QUIET_FOR, self.follow_up)  # watchers do not keep up
                return
        while self._to_follow:
            some = [self._to_follow.popleft() for _ in range(min(TOGETHER, len(self._to_follow)))]
            try:
                self.runtime.after_replies(some, stays_here=True)
            finally:  # whatever goes wrong with these, the next ones are followed up
                if self._to_follow and self._loop and not all_at_once:
                    self._loop.call_soon(self.follow_up)
            if not all_at_once:
                break

    def _shorten_queue(self) -> None:
        """Under heavy load write only the ledger's rows of the oldest decisions without an effect."""
        some = [self._to_follow.popleft() for _ in range(len(self._to_follow) - QUEUE)]
        dropped = [(work, decision) for work, decision in some if _can_drop_trace(decision)]
        self.dropped += len(dropped)
        if dropped:
            self.runtime.watchers.keep_calls((each, work.context, work.size) for work, each in dropped)
        self.runtime.after_replies((each for each in some if not _can_drop_trace(each[1])), stays_here=True)

    @property
    def is_done(self) -> bool:
        """Return whether all decisions have been followed up."""
        return not self._to_follow

    @cached_property
    def _batch_thread(self) -> "ThreadPoolExecutor":
        from concurrent.futures import ThreadPoolExecutor  # slow to import, and not needed before the first reply

        return ThreadPoolExecutor(1, thread_name_prefix="snell-batch")

    @cached_property
    def _reading(self) -> "asyncio.Lock":
        import asyncio  # likewise

        return asyncio.Lock()


def _can_drop_trace(decision: Decision) -> bool:
    """Return whether no user will ask for the trace: never of a refusal, a rewrite, a failure or a session's end."""
    has_effect = decision.verdict or decision.changes or decision.failures or decision.notes or decision.stop
    return not has_effect and decision.event.name not in ("SessionStart", "SessionEnd")


def _is_writable(database: Database | None) -> bool:
    """Return whether the database can be written now; waits for other programs as long as any transaction does."""
    try:
        if database is not None:
            database.run(lambda _tx: None)
    except StoreBusyError:
        return False
    except StoreError:
        return True  # the journal will report the error
    return True
