"""
The daemon: a house that is kept warm behind a Unix socket, one for each user.

It is started by the first `snell-hook` that finds nobody listening, serves until it has been idle for a while, and
makes room for a newer version of itself. A lock is held for as long as it serves, so there is never a second one.
"""

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from snell.machine.activation import Listener, adopt, listen
from snell.machine.crash_report import write_report
from snell.machine.paths import Places, make_private, places
from snell.machine.processes import adopt_orphans, reap_orphans
from snell.machine.wire import Request
from snell.model.errors import SnellError, StoreError
from snell.model.ports import Transaction
from snell.runtime.connections import Front
from snell.runtime.house import House
from snell.runtime.rpc import Arguments, Command, Rpc
from snell.runtime.service import Service
from snell.runtime.versions import hand_over_to, our_version
from snell.work.retention import expire_decisions, expire_traces

IDLE = 30 * 60.0  # seconds without a request after which the daemon goes
LOOK = 1.0  # how often it looks whether it should, and writes the log of the database back
KEEP_TRACES, KEEP_DECISIONS = 30, 180  # days
FINISH = 605.0  # the longest a hook may still take when the daemon has been told to go
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
        with _only_one(where.run / "daemon.lock", LOCK_WAIT if listener else 0.0) as is_ours:
            if not is_ours:
                sys.stderr.write("snell: another daemon is running\n")
                return 0
            asyncio.run(Daemon(where, listener or listen(where.run)).serve())
    except SnellError as error:
        sys.stderr.write(f"snell: {error}\n")
        return 1
    return 0


class Daemon:
    """The life of one daemon."""

    def __init__(self, where: Places, listener: Listener, idle: float | None = None) -> None:
        self.where = where
        self._listener = listener
        self._idle = float(os.environ.pop("SNELL_IDLE", 0) or idle or IDLE)
        self._started = time.time()
        self._last = time.monotonic()
        self._served = 0
        self._leaving = asyncio.Event()
        self._service: Service | None = None

    async def serve(self) -> None:
        adopt_orphans()
        house = House.for_user(dict(os.environ), self.where)
        service = self._service = Service(house)
        front = Front(self._listener.socket, service, Rpc(self._commands()), self._on_request)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._leaving.set)
        loop.set_exception_handler(_report)
        gc.freeze()  # what is loaded now stays, and need not be looked at again
        watching = loop.create_task(self._look_after_things(front, house))
        await self._leaving.wait()
        watching.cancel()
        await self._leave(front)
        service.follow_up(all_at_once=True)
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
        }

    def _stop(self, _arguments: Arguments, _env: Any) -> dict[str, Any]:
        asyncio.get_running_loop().call_later(0.01, self._leaving.set)
        return {"pid": os.getpid()}

    def _on_request(self, request: Request) -> None:
        self._served += 1
        self._last = time.monotonic()
        if hand_over_to(request.build, self.where.run):
            self._leaving.set()  # this request is still answered; the next one starts the newer daemon

    async def _look_after_things(self, front: Front, house: House) -> None:
        while True:
            await asyncio.sleep(min(LOOK, self._idle / 4))
            reap_orphans()
            if house.database:
                with contextlib.suppress(StoreError):
                    await asyncio.to_thread(house.database.checkpoint)
                    house.database.run(_forget_what_is_old)
            if time.monotonic() - self._last > self._idle and not front.is_busy:
                self._leaving.set()

    async def _leave(self, front: Front) -> None:
        """Take the name away first, so that nobody new comes; then serve those who are already here."""
        self._listener.withdraw()
        front.stop_accepting()
        await front.finish(FINISH)


def _forget_what_is_old(tx: Transaction) -> None:
    """A few rows at a time, so that nobody notices."""
    now = time.time_ns() // 1_000_000
    if not expire_traces(tx, now=now, days=KEEP_TRACES):
        expire_decisions(tx, now=now, days=KEEP_DECISIONS)


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
def _only_one(path: Path, wait: float) -> Iterator[bool]:
    """Hold the lock for the length of the block; False when somebody else has it. The file is never deleted."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    deadline = time.monotonic() + wait
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    yield False
                    return
                time.sleep(0.01)
                continue
            yield True
            return
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main())
