"""What a daemon does once its first call is answered: it serves the others, looks after things, and leaves in time."""

import asyncio
import contextlib
import gc
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from snell.daemon.housekeeping import Pace
from snell.daemon.installed_program import Installed
from snell.daemon.listener import Listener
from snell.daemon.memory_timer import MemoryTimer
from snell.daemon.optional_services import OptionalServices
from snell.daemon.request_handler import RequestHandler
from snell.daemon.socket_server import SocketServer
from snell.daemon.stdio_bridge import StdioBridges
from snell.daemon.wire import Request
from snell.model.errors import StoreError
from snell.model.protocols import Transaction
from snell.operations import call_for
from snell.operations.rpc import Arguments, Command, Rpc
from snell.records.audit_log import AuditLog
from snell.records.retention import expire_traces
from snell.runtime.app import Runtime
from snell.runtime.database_journal import StoreJournal
from snell.settings.pause import current_pause
from snell.store.replication.decisions import position
from snell.system.crash_report import write_report
from snell.system.paths import Places
from snell.system.run_program import dead_orphans_wait, reap_orphans
from snell.system.version import hand_over_to, our_version
from snell.system.wall_clock import WallClock

IDLE = 30 * 60.0  # seconds without a request after which the daemon goes
QUIET = 0.2  # seconds since the last request, before work that can wait
KEEP_TRACES, KEEP_DECISIONS = 30, 180  # days
GARBAGE = (20_000, 10, 20)  # objects before anybody waits for a collection; quiet moments have theirs
FINISH = 605.0  # the longest a hook may still take when the daemon has been told to go
WAITING_AT_ONCE = 64  # events that wait for a slow hook, such as a model's answer


class Daemon:
    """The life of one daemon."""

    def __init__(
        self,
        where: Places,
        listener: Listener,
        runtime: Runtime,
        service: RequestHandler,
        front: SocketServer,
        idle: float = 0.0,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        self.where = where
        self._listener = listener
        self._release = release
        self._runtime = runtime
        self._service = service
        self._front = front
        self._idle = idle or IDLE
        self._started = time.time()
        self._clock = WallClock()
        self._program = Installed(Path(__file__))
        self._last = time.monotonic()
        self._served = 0
        self._leaving = asyncio.Event()
        self._pace = Pace(self._idle, (runtime.database and runtime.database.log_path) or os.devnull)
        self._is_new = True
        self._annexes = OptionalServices(where, dict(os.environ))

    async def serve(self) -> None:
        runtime, front = self._runtime, self._front
        rpc = Rpc(self._commands(), lambda name: call_for(name, runtime))
        await self._annexes.prepare()
        loop = asyncio.get_running_loop()
        # Each event that waits for a slow hook waits in a thread; a few agents' models must not hold up the rest.
        loop.set_default_executor(ThreadPoolExecutor(WAITING_AT_ONCE, thread_name_prefix="snell-wait"))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._leaving.set)
        loop.set_exception_handler(_report)
        front.start(loop, rpc, self._on_request, StdioBridges(runtime).serve)
        self._annexes.join(runtime)
        await self._annexes.start(front.request)
        gc.freeze()  # what is loaded now stays, and need not be looked at again
        gc.set_threshold(*GARBAGE)
        gc.enable()
        watching = loop.create_task(self._look_after_things(front, runtime))
        await self._leaving.wait()
        watching.cancel()
        await self._leave(front)
        self._service.follow_up(all_at_once=True)
        await self._annexes.stop_feed()
        await MemoryTimer(runtime).look()  # what hooks captured until now
        await asyncio.to_thread(runtime.close)

    def _commands(self) -> dict[str, Command]:
        return {"ping": lambda *_: "pong", "status": self._status, "stop": self._stop}

    def _status(self, _arguments: Arguments, _env: Any) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "version": our_version(),
            "since": self._started,
            "served": self._served,
            "shed": self._service.dropped,
            "journal": _journal(self._runtime),
            "socket": str(self._listener.path),
            "paused": str(current_pause(self.where) or ""),
            **self._annexes.status(),
        }

    def _stop(self, _arguments: Arguments, _env: Any) -> dict[str, Any]:
        asyncio.get_running_loop().call_later(0.01, self._leaving.set)
        return {"pid": os.getpid()}

    def _on_request(self, request: Request) -> None:
        self._served += 1
        self._last = time.monotonic()
        self._pace.note_work()
        if self._annexes.feed:
            self._annexes.feed.count_row()
        if hand_over_to(request.build, self.where.run):
            self._leaving.set()  # this request is still answered; the next one starts the newer daemon

    async def _look_after_things(self, front: SocketServer, runtime: Runtime) -> None:
        memory = MemoryTimer(runtime)
        while True:
            is_whole = await self._pace.next_look()
            reap_orphans()
            if is_whole:
                await self._keep_house(runtime)
            await memory.look(is_busy=time.monotonic() - self._last < QUIET)
            is_idle = time.monotonic() - self._last > self._idle and not front.is_busy
            has_reasons = self._annexes.must_stay or memory.is_behind
            if (is_idle and not has_reasons) or self._program.is_gone() or not self._listener.is_reachable:
                self._leaving.set()
            self._pace.end_look(has_more=memory.has_more or dead_orphans_wait() or _has_rows_to_write(runtime))

    async def _keep_house(self, runtime: Runtime) -> None:
        """Do what work leaves to be done: garbage, waiting rows, the database's log, the audit chain, old rows."""
        gc.collect(0)
        if isinstance(runtime.journal, StoreJournal):
            with contextlib.suppress(StoreError):
                runtime.journal.take_in() if self._is_new else runtime.journal.flush()
            self._is_new = False
        if runtime.database:
            with contextlib.suppress(StoreError):
                await self._keep_ledger_whole(runtime)
                await asyncio.to_thread(runtime.database.checkpoint)
                if runtime.audit_log:
                    await asyncio.to_thread(runtime.audit_log.keep_up)
                runtime.database.run(lambda tx: self._forget_what_is_old(tx, runtime.audit_log))

    async def _keep_ledger_whole(self, runtime: Runtime) -> None:
        """A few rows at a time, when none is about to be written anyway."""

        def is_done() -> bool:
            return self._service.is_done and not runtime.executor.backlog

        while is_done() and await asyncio.to_thread(runtime.watchers.ledger.catch_up):
            pass
        if is_done():
            runtime.watchers.ledger.move_on()

    def _forget_what_is_old(self, tx: Transaction, audit_log: AuditLog | None) -> None:
        """A few rows at a time, so that nobody notices; a shared server must have them first."""
        now = self._clock.now()
        if now is None:
            return  # the clock was set, and what is old cannot be told
        fed = position(tx) if self._annexes.feed else None
        if expire_traces(tx, now=now, days=KEEP_TRACES, up_to=fed.traces if fed else None):
            return
        if audit_log:
            audit_log.forget(tx, now, KEEP_DECISIONS, up_to=fed.decisions if fed else None)

    async def _leave(self, front: SocketServer) -> None:
        """Take the name away first, so that nobody new comes; then serve those who are already here."""
        self._listener.withdraw()
        self._annexes.stop_http()
        front.stop_accepting()
        self._release()  # a successor need not wait for our last hooks, nor those who wait for it
        await front.finish(FINISH)


def _has_rows_to_write(runtime: Runtime) -> bool:
    """Rows wait, because another program locked the database when they were due."""
    journal = runtime.journal
    return runtime.watchers.ledger.is_behind or (isinstance(journal, StoreJournal) and journal.waiting > 0)


def _journal(runtime: Runtime) -> dict[str, Any]:
    """How it is with what was answered for; a problem that has passed is none."""
    journal = runtime.journal
    if not isinstance(journal, StoreJournal):
        return {}
    return {"problem": journal.problem, "waiting": journal.waiting if journal.problem else 0, "lost": journal.lost}


def _report(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Something broke after an answer had left: nobody waits for it, but we want to know."""
    error = context.get("exception")
    if isinstance(error, Exception):
        write_report(error, ["daemon"])
