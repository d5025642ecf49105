"""
The daemon: a house that is kept warm behind a Unix socket, one for each user.

It is started by the first `snell-hook` that finds nobody listening, serves until it has been idle for a while, and
makes room for a newer version of itself. A lock is held for as long as it takes requests, so there is never a second
one that does; hooks that are still running when it goes hold up nobody but their own callers.
"""

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from snell.machine.activation import Listener, adopt, listen
from snell.machine.crash_report import write_report
from snell.machine.installed import Installed
from snell.machine.paths import Places, make_private, places
from snell.machine.processes import adopt_orphans, reap_orphans
from snell.machine.wall_clock import WallClock
from snell.machine.wire import Request
from snell.model.errors import SnellError, StoreError
from snell.model.ports import Transaction
from snell.runtime.annexes import Annexes
from snell.runtime.audit import Auditor
from snell.runtime.bridges import Bridges
from snell.runtime.calls import call_for
from snell.runtime.connections import Front
from snell.runtime.house import House
from snell.runtime.memory_timer import MemoryTimer
from snell.runtime.rpc import Arguments, Command, Rpc
from snell.runtime.service import Service
from snell.runtime.spool import position
from snell.runtime.store_journal import StoreJournal
from snell.runtime.versions import hand_over_to, our_version
from snell.settings.pause import current_pause
from snell.work.retention import expire_traces

IDLE = 30 * 60.0  # seconds without a request after which the daemon goes
LOOK = 1.0  # how often it looks whether it should, and writes the log of the database back
KEEP_TRACES, KEEP_DECISIONS = 30, 180  # days
GARBAGE = (20_000, 10, 20)  # objects before anybody waits for a collection; quiet moments have theirs
FINISH = 605.0  # the longest a hook may still take when the daemon has been told to go
WAITING_AT_ONCE = 64  # events that wait for a slow hook, such as a model's answer
LOCK_WAIT = 30.0  # for a predecessor that is finishing its last calls

# What the daemon keeps of the environment it was started with: that of the first caller, whoever it was.
KEPT = ("HOME", "PATH", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "TMPDIR", "SNELL_HOME")
KEPT_PREFIXES = ("XDG_",)


def main() -> int:
    """Serve until there is nothing left to do."""
    try:
        _scrub_environment()
        where = places(os.environ)
        make_private(where.run)
        listener = adopt(os.environ, where.run)
        with _only_one(where.run / "daemon.lock", LOCK_WAIT if listener else 0.0) as release:
            if not release:
                sys.stderr.write("snell: another daemon is running\n")
                return 0
            asyncio.run(Daemon(where, listener or listen(where.run), release=release).serve())
    except SnellError as error:
        sys.stderr.write(f"snell: {error}\n")
        return 1
    return 0


class Daemon:
    """The life of one daemon."""

    def __init__(
        self,
        where: Places,
        listener: Listener,
        idle: float | None = None,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        self.where = where
        self._listener = listener
        self._release = release
        self._idle = float(os.environ.pop("SNELL_IDLE", 0) or idle or IDLE)
        self._started = time.time()
        self._clock = WallClock()
        self._program = Installed(Path(__file__))
        self._last = time.monotonic()
        self._served = 0
        self._leaving = asyncio.Event()
        self._service: Service | None = None
        self._annexes = Annexes(where, dict(os.environ))

    async def serve(self) -> None:
        adopt_orphans()
        house = House.for_user(dict(os.environ), self.where, stays=True)
        service = self._service = Service(house)
        rpc = Rpc(self._commands(), lambda name: call_for(name, house))
        await self._annexes.prepare()
        front = Front(self._listener.socket, service, rpc, self._on_request, Bridges(house).serve)
        await self._annexes.start(front.request)
        loop = asyncio.get_running_loop()
        # Each event that waits for a slow hook waits in a thread; a few agents' models must not hold up the rest.
        loop.set_default_executor(ThreadPoolExecutor(WAITING_AT_ONCE, thread_name_prefix="snell-wait"))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._leaving.set)
        loop.set_exception_handler(_report)
        gc.freeze()  # what is loaded now stays, and need not be looked at again
        gc.set_threshold(*GARBAGE)
        watching = loop.create_task(self._look_after_things(front, house))
        await self._leaving.wait()
        watching.cancel()
        await self._leave(front)
        service.follow_up(all_at_once=True)
        await self._annexes.stop_feed()
        await MemoryTimer(house).look()  # what hooks captured until now
        await asyncio.to_thread(house.close)

    def _commands(self) -> dict[str, Command]:
        return {"ping": lambda *_: "pong", "status": self._status, "stop": self._stop}

    def _status(self, _arguments: Arguments, _env: Any) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "version": our_version(),
            "since": self._started,
            "served": self._served,
            "shed": self._service.shed if self._service else 0,
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
        if self._annexes.feed:
            self._annexes.feed.written()
        if hand_over_to(request.build, self.where.run):
            self._leaving.set()  # this request is still answered; the next one starts the newer daemon

    async def _look_after_things(self, front: Front, house: House) -> None:
        is_new = True
        memory = MemoryTimer(house)
        while True:
            await asyncio.sleep(min(LOOK, self._idle / 4))
            reap_orphans()
            gc.collect(0)
            if isinstance(house.journal, StoreJournal):
                with contextlib.suppress(StoreError):
                    house.journal.take_in() if is_new else house.journal.flush()
                is_new = False
            if house.database:
                with contextlib.suppress(StoreError):
                    await asyncio.to_thread(house.database.checkpoint)
                    if house.auditor:
                        await asyncio.to_thread(house.auditor.keep_up)
                    house.database.run(lambda tx: self._forget_what_is_old(tx, house.auditor))
            await memory.look()
            is_idle = time.monotonic() - self._last > self._idle and not front.is_busy
            if (is_idle and not self._annexes.must_stay) or self._program.is_gone():
                self._leaving.set()

    def _forget_what_is_old(self, tx: Transaction, auditor: Auditor | None) -> None:
        """A few rows at a time, so that nobody notices; a shared server must have them first."""
        now = self._clock.now()
        if now is None:
            return  # the clock was set, and what is old cannot be told
        fed = position(tx) if self._annexes.feed else None
        if expire_traces(tx, now=now, days=KEEP_TRACES, up_to=fed.traces if fed else None):
            return
        if auditor:
            auditor.forget(tx, now, KEEP_DECISIONS, up_to=fed.decisions if fed else None)

    async def _leave(self, front: Front) -> None:
        """Take the name away first, so that nobody new comes; then serve those who are already here."""
        self._listener.withdraw()
        self._annexes.stop_http()
        front.stop_accepting()
        self._release()  # a successor need not wait for our last hooks, nor those who wait for it
        await front.finish(FINISH)


def _report(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Something broke after an answer had left: nobody waits for it, but we want to know."""
    error = context.get("exception")
    if isinstance(error, Exception):
        write_report(error, ["daemon"])


def _scrub_environment() -> None:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in KEPT or name.startswith(KEPT_PREFIXES) or name in ("SNELL_LISTEN_FD", "SNELL_IDLE")
    }
    os.environ.clear()
    os.environ.update(kept)


@contextlib.contextmanager
def _only_one(path: Path, wait: float) -> Iterator[Callable[[], None] | None]:
    """
    Hold the lock for the length of the block, or until what this yields is called; None when somebody else has it.

    The file is never deleted.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    deadline = time.monotonic() + wait
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    yield None
                    return
                time.sleep(0.01)
                continue
            yield lambda: fcntl.flock(descriptor, fcntl.LOCK_UN)
            return
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main())
