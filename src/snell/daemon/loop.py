"""The daemon's event loop: serve requests, do housekeeping, and end when idle, replaced or told to stop."""

import asyncio
import contextlib
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from snell.daemon.housekeeping import RoundTimer
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
from snell.system.crash_report import write_report
from snell.system.orphan_processes import CHILDREN
from snell.system.paths import Places
from snell.system.recorded_runs import RUNS
from snell.system.version import Installed, our_version, should_hand_over
from snell.system.wall_clock import WallClock

IDLE = 30 * 60.0  # seconds without a request after which the daemon ends
QUIET = 0.2  # seconds since the last request, before deferred work is done
KEEP_TRACES, KEEP_DECISIONS = 30, 180  # days
GARBAGE = (20_000, 10, 20)  # high thresholds, so that a request rarely pays for a collection; housekeeping collects
FINISH = 605.0  # seconds that running hooks get when the daemon ends: the longest time limit of a hook
WAITING_AT_ONCE = 64  # events that can wait for a slow hook, such as a model's answer, at the same time


class Daemon:
    """One daemon, from its first request to its end."""

    def __init__(
        self,
        where: Places,
        listener: Listener,
        runtime: Runtime,
        handler: RequestHandler,
        server: SocketServer,
        idle: float = 0.0,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        self.where, self._listener, self._release = where, listener, release
        self._runtime, self._handler, self._server = runtime, handler, server
        self._idle = idle or IDLE
        self._started = time.time()
        self._clock = WallClock()
        self._program = Installed(Path(__file__))
        self._last = time.monotonic()
        self._served = 0
        self._ending = asyncio.Event()
        self._pace = RoundTimer(self._idle, (runtime.database and runtime.database.log_path) or os.devnull)
        self._is_new, self._has_checked_code = True, False
        self._audit_is_behind = self._has_old_rows = False
        self._services = OptionalServices(where, dict(os.environ))

    async def serve(self, must_end: Sequence[int] = ()) -> None:
        """Serve until the daemon has to end, then finish the open requests; `must_end` has signals received before."""
        runtime, server = self._runtime, self._server
        commands: dict[str, Command] = {"ping": lambda *_: "pong", "status": self._status, "stop": self._stop}
        rpc = Rpc(commands, lambda name: call_for(name, runtime))
        await self._services.prepare()
        loop = asyncio.get_running_loop()
        # Each event that waits for a slow hook occupies a thread; a few slow models must not block the others.
        loop.set_default_executor(ThreadPoolExecutor(WAITING_AT_ONCE, thread_name_prefix="snell-wait"))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ending.set)
        if must_end:
            self._ending.set()
        loop.add_signal_handler(signal.SIGCHLD, self._pace.note_work)  # a child to reap wakes a daemon that sleeps
        loop.set_exception_handler(_report)
        server.start(loop, rpc, self._on_request, StdioBridges(runtime).serve)
        self._services.join(runtime)
        await self._services.start(server.request)
        gc.freeze()  # modules stay loaded, so no collection needs to traverse them
        gc.set_threshold(*GARBAGE)
        gc.enable()
        housekeeping = loop.create_task(self._run_rounds(server, runtime))
        await self._ending.wait()
        housekeeping.cancel()
        self._listener.withdraw()  # first, so that new clients start another daemon
        self._services.stop_http()
        server.stop_accepting()
        self._release()  # a successor need not wait for the last hooks of this daemon
        await server.finish(FINISH)
        self._handler.follow_up(all_at_once=True)
        await self._services.stop_feed()
        await MemoryTimer(runtime).run_if_due()  # store what hooks captured until now
        await asyncio.to_thread(runtime.close)

    def _status(self, _arguments: Arguments, _env: Any) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "version": our_version(),
            "since": self._started,
            "served": self._served,
            "shed": self._handler.dropped,
            "journal": _journal(self._runtime),
            "socket": str(self._listener.path),
            "paused": str(current_pause(self.where) or ""),
            **self._services.status(),
        }

    def _stop(self, _arguments: Arguments, _env: Any) -> dict[str, Any]:
        asyncio.get_running_loop().call_later(0.01, self._ending.set)
        return {"pid": os.getpid()}

    def _on_request(self, request: Request) -> None:
        self._served += 1
        self._last = time.monotonic()
        self._pace.note_work()
        if self._services.feed:
            self._services.feed.rows.notify_change()
        if should_hand_over(request.build, self.where.run):
            self._ending.set()  # this request is still answered; the next one starts the newer daemon

    async def _run_rounds(self, server: SocketServer, runtime: Runtime) -> None:
        memory = MemoryTimer(runtime)
        while True:
            is_full = await self._pace.next_round()
            CHILDREN.reap_all()
            if self._served and not self._has_checked_code:
                from snell.daemon.changed_code import find_changed_code  # the first answer does not wait for it

                self._has_checked_code = True
                index = sys.modules.get("snell.settings.pack_index")
                for _ in index.load_needed_hooks() if index else ():  # by the next events
                    await asyncio.sleep(0)
                self._handler.changed_code = await find_changed_code(runtime)
            if is_full:
                if self._is_new:
                    await asyncio.to_thread(RUNS.end_those_left)  # of a daemon that was killed
                await self._run_housekeeping(runtime)
            await memory.run_if_due(is_busy=time.monotonic() - self._last < QUIET)
            is_idle = time.monotonic() - self._last > self._idle and not server.is_busy
            must_stay = self._services.must_stay or memory.is_behind
            if (is_idle and not must_stay) or self._program.is_gone() or not self._listener.is_reachable:
                self._ending.set()
            is_behind = self._is_behind(runtime)  # while events come, that is the usual case, and can wait
            has_more = memory.has_more or bool(CHILDREN.seen_dead) or (is_behind and not self._is_busy())
            self._pace.end_round(has_more=has_more, due_in=QUIET if is_behind else memory.due_in(self._last))

    async def _run_housekeeping(self, runtime: Runtime) -> None:
        """Collect garbage, write waiting rows, extend the audit chain, expire old rows, checkpoint the database."""
        gc.collect(0)
        if isinstance(runtime.journal, StoreJournal):
            with contextlib.suppress(StoreError):
                runtime.journal.take_in() if self._is_new else runtime.journal.flush()
            self._is_new = False
        if runtime.database:
            with contextlib.suppress(StoreError):
                await self._repair_ledger(runtime)
                if runtime.audit_log:
                    await asyncio.to_thread(runtime.audit_log.keep_up, is_busy=self._is_busy)
                    self._audit_is_behind = runtime.audit_log.is_behind
                self._has_old_rows = runtime.database.run(lambda tx: self._expire_rows(tx, runtime.audit_log))
            with contextlib.suppress(StoreError):
                await asyncio.to_thread(runtime.database.checkpoint)

    def _is_behind(self, runtime: Runtime) -> bool:
        """Whether rows wait: for a locked database, for the ledger, for the audit chain, or to be deleted."""
        journal = runtime.journal
        has_rows = isinstance(journal, StoreJournal) and journal.waiting > 0
        return has_rows or runtime.watchers.ledger.is_behind or self._audit_is_behind or self._has_old_rows

    def _is_busy(self) -> bool:
        """Whether work that can wait has to wait."""
        return time.monotonic() - self._last < QUIET or self._ending.is_set()

    async def _repair_ledger(self, runtime: Runtime) -> None:
        """Add missing ledger rows, a few at a time, while no hook is about to write them."""

        def is_done() -> bool:
            return self._handler.is_done and not runtime.executor.backlog

        while is_done() and await asyncio.to_thread(runtime.watchers.ledger.catch_up):
            pass
        if is_done():
            runtime.watchers.ledger.store_progress()

    def _expire_rows(self, tx: Transaction, audit_log: AuditLog | None) -> bool:
        """Delete a few old rows, and return whether there were any; a shared server must have them first."""
        now = self._clock.now()
        if now is None:
            return False  # the clock was set, so the age of rows is not known
        fed = self._services.feed.position(tx) if self._services.feed else None
        if expire_traces(tx, now=now, days=KEEP_TRACES, up_to=fed.traces if fed else None):
            return True
        if not audit_log:
            return False
        has_deleted = audit_log.forget(tx, now, KEEP_DECISIONS, (fed.decisions, fed.calls) if fed else None)
        limit = self._services.size_limit
        return (limit is not None and limit.shrink(tx, audit_log, now, fed)) or has_deleted


def _journal(runtime: Runtime) -> dict[str, Any]:
    """Return the state of the journal for `status`."""
    journal = runtime.journal
    if not isinstance(journal, StoreJournal):
        return {}
    return {"problem": journal.problem, "waiting": journal.waiting if journal.problem else 0, "lost": journal.lost}


def _report(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Write a crash report for an error after a reply, which no client sees."""
    error = context.get("exception")
    if isinstance(error, Exception):
        write_report(error, ["daemon"])
