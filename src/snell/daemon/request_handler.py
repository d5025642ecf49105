"""
What the daemon does with one request: decide it at once when nobody has to wait, else without holding up the others.

The engine, the marks and the journal belong to the loop's thread; only running hooks and reading large payloads goes
elsewhere. The small row of an event is written before its answer leaves, everything else after it.
"""

import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from snell.daemon.wire import Request
from snell.model.decision import Decision
from snell.model.errors import SnellError, StoreBusyError, StoreError
from snell.model.events import Event
from snell.model.protocols import Client, Database, Reply
from snell.runtime.app import Runtime
from snell.runtime.dedupe import TwinFilter
from snell.runtime.event_flow import Deciding, EventRun, Wait, run_decision_until_wait
from snell.runtime.executor import PendingBatch
from snell.runtime.hook_request import internal_error_reply, parse_hook_args, reply_to, unreadable_payload_reply

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

Send = Callable[[Reply], None]

QUIET_FOR = 0.01  # seconds without a request after which we do what can wait, and disturb nobody with it
WAIT_FOR_QUIET = 0.5  # seconds after which it is done however busy we are
MANY = 128  # decisions after which, likewise
TOGETHER = 8  # decisions whose traces are written at a time; whoever comes meanwhile waits for them
QUEUE = 1_000  # decisions whose trace waits; beyond that, the traces of those with nothing to tell are shed
LOCKED = 0.1  # seconds until we look again whether another program lets us write
BACKLOG = 200  # events whose watchers are still at work; the next ones wait in the queue
LARGE = 32_000  # bytes of payload whose reading and judging would be noticed by others
COMPARED = 100_000  # bytes of payload that are read once more to find its twin


class RequestHandler:
    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.shed = 0
        self._to_follow: deque[tuple[EventRun, Decision]] = deque()
        self._latest = 0.0  # when the last answer left
        self._overdue = 0.0  # when what can wait has waited for long enough
        self._loop: asyncio.AbstractEventLoop | None = None
        # Those who wait for a delivery that is being decided now, because they sent the same.
        self._deciding: dict[str, list[Send]] = {}
        self._pairs = TwinFilter()
        self._is_locked_out = False  # another program keeps us from writing

    def start(self, loop: "asyncio.AbstractEventLoop") -> None:
        """From now on what can wait is done in this loop; until then, it waits."""
        self._loop = loop
        if self._to_follow:
            loop.call_later(QUIET_FOR, self._follow_up_when_quiet)

    def serve(self, request: Request, send: Send) -> Coroutine[Any, Any, None] | None:
        """Answer a request through `send`: now, or by what is returned. One of the nets of the house."""
        try:
            waiting = self._serve(request, send)
        except Exception as error:  # noqa: BLE001 - whatever happens, somebody is waiting for an answer
            send(self._failed(error, request))
            return None
        return self._netted(waiting, request, send) if waiting else None

    async def _netted(self, waiting: Coroutine[Any, Any, None], request: Request, send: Send) -> None:
        try:
            await waiting
        except Exception as error:  # noqa: BLE001 - likewise
            send(self._failed(error, request))

    def _failed(self, error: Exception, request: Request) -> Reply:
        answer = unreadable_payload_reply if isinstance(error, SnellError) else internal_error_reply
        # The right one of the two was chosen by the error's type.
        env = LazyEnvironment(request)
        return answer(error, request.stdin, self.runtime, request.cwd, request.argv, env)  # type: ignore[arg-type] # as above

    def _serve(self, request: Request, send: Send) -> Coroutine[Any, Any, None] | None:
        if len(request.stdin) > LARGE:
            return self._serve_large(request, send)
        call = parse_hook_args(request.argv)
        env = LazyEnvironment(request)
        client, event = call.decode_payload(request.stdin, request.cwd, env)
        if call.is_rewake:
            return self._serve_rewake(event, send)
        return self._serve_event(client, event, call.source, request, env, send)

    def _serve_event(
        self, client: Client, event: Event, source: str, request: Request, env: "LazyEnvironment", send: Send
    ) -> Coroutine[Any, Any, None] | None:
        is_large, request_id = len(request.stdin) > LARGE, request.request_id
        if len(request.stdin) <= COMPARED:
            request_id = self._pairs.request_of(event, source, request_id, time.monotonic())
        work = self.runtime.prepare(event, request_id, env, **({"is_large": True} if is_large else {}))
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
        """The same delivery again, while this one is still being decided, gets the same answer."""
        assert self._loop
        try:
            came: Decision | Wait = wait
            while not isinstance(came, Decision):
                waited = await self._loop.run_in_executor(self._thread_for(came), came)
                came = run_decision_until_wait(deciding, self.runtime.executor, work.context, waited)
            reply = self._finish(client, work, came, request, send)
        except Exception as error:  # noqa: BLE001 - likewise
            reply = self._failed(error, request)
            send(reply)
        for send_twin in self._deciding.pop(work.key, ()):
            send_twin(reply)

    async def _serve_rewake(self, event: Event, send: Send) -> None:
        from snell.runtime.wake_agent import wake_agent  # few clients can be woken

        send(await wake_agent(self.runtime, event))

    def _thread_for(self, wait: Wait) -> "ThreadPoolExecutor | None":
        """
        Whoever has begun a flight holds the hooks' process until it is finished. INVARIANT: there is always a thread
        to finish it in; all others may be waiting for that process.
        """
        return self._flights if isinstance(getattr(wait, "__self__", None), PendingBatch) else None

    async def _serve_large(self, request: Request, send: Send) -> None:
        call = parse_hook_args(request.argv)
        env = LazyEnvironment(request)
        read = partial(call.decode_payload, request.stdin, request.cwd, env)
        async with self._reading:  # one after the other, or small ones would hardly get their turn
            assert self._loop
            client, event = await self._loop.run_in_executor(None, read)
        waiting = self._serve_event(client, event, call.source, request, env, send)
        if waiting:
            await waiting

    def _finish(self, client: Client, work: EventRun, decision: Decision, request: Request, send: Send) -> Reply:
        decision = self.runtime.commit(work, decision)
        reply = reply_to(client, decision, request.sender)
        send(reply)
        if len(self._to_follow) >= QUEUE and self._is_locked_out and _can_be_shed(decision):
            self.shed += 1  # its small row is kept, from which the ledger gets its own when it can be written
            self.runtime.watchers.ledger.note_missing()
            return reply
        self._to_follow.append((work, decision))
        self._latest = time.monotonic()
        if len(self._to_follow) == 1:
            self._overdue = self._latest + WAIT_FOR_QUIET
            if self._loop:
                self._loop.call_later(QUIET_FOR, self._follow_up_when_quiet)
        return reply

    def _follow_up_when_quiet(self) -> None:
        """A caller's process is still ending when its answer has left, and its client may have more to ask."""
        assert self._loop
        now = time.monotonic()
        quiet_at = self._latest + QUIET_FOR
        if now < quiet_at and now < self._overdue and len(self._to_follow) < MANY:
            self._loop.call_later(quiet_at - now, self._follow_up_when_quiet)
        else:
            self.follow_up()

    def follow_up(self, *, all_at_once: bool = False) -> None:
        """Do what can wait, a few events at a time, so that nobody who comes meanwhile waits for long."""
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
            finally:  # whatever goes wrong with these, those behind them have their turn
                if self._to_follow and self._loop and not all_at_once:
                    self._loop.call_soon(self.follow_up)
            if not all_at_once:
                break

    def _shorten_queue(self) -> None:
        """In a flood the oldest decisions with nothing to tell get their rows of the ledger, and nothing else."""
        some = [self._to_follow.popleft() for _ in range(len(self._to_follow) - QUEUE)]
        shed = [(work, decision) for work, decision in some if _can_be_shed(decision)]
        self.shed += len(shed)
        if shed:
            self.runtime.watchers.keep_calls((each, work.context, work.size) for work, each in shed)
        self.runtime.after_replies((each for each in some if not _can_be_shed(each[1])), stays_here=True)

    @property
    def is_done(self) -> bool:
        """Does nothing wait to be written?"""
        return not self._to_follow

    @cached_property
    def _flights(self) -> "ThreadPoolExecutor":
        from concurrent.futures import ThreadPoolExecutor  # slow to import, and not needed before the first answer

        return ThreadPoolExecutor(1, thread_name_prefix="snell-flight")

    @cached_property
    def _reading(self) -> "asyncio.Lock":
        import asyncio  # likewise

        return asyncio.Lock()


def _can_be_shed(decision: Decision) -> bool:
    """Never a refusal, a rewrite, a failure or the end of a session."""
    speaks = decision.verdict or decision.changes or decision.failures or decision.notes or decision.stop
    return not speaks and decision.event.name not in ("SessionStart", "SessionEnd")


def _is_writable(database: Database | None) -> bool:
    """Does every other program let us write now? Waits for them as long as any transaction does."""
    try:
        if database is not None:
            database.run(lambda _tx: None)
    except StoreBusyError:
        return False
    except StoreError:
        return True  # the row that cannot be written says why
    return True


class LazyEnvironment(Mapping[str, str]):
    """The caller's environment: one name is read out of the request's bytes, all of it only for a hook's process."""

    __slots__ = ("_all_of_it", "_read", "_request")

    def __init__(self, request: Request) -> None:
        self._request = request
        self._read: dict[str, str | None] = {}  # names that were asked for, also those that are not there
        self._all_of_it: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        found: str | None = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str, default: Any = None) -> Any:  # several hooks ask on every event
        try:
            found = self._read[name]
        except KeyError:
            found = self._read[name] = self._request.variable(name)
        return default if found is None else found

    def __bool__(self) -> bool:
        return b"=" in self._request.environment

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, str]:
        if self._all_of_it is None:
            self._all_of_it = self._request.variables()
        return self._all_of_it
