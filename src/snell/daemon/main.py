"""
The daemon: a runtime that stays loaded behind a Unix socket, one for each user.

The first `snell-hook` that finds no daemon starts it. It ends after some time without requests, or when a newer
version was installed. It holds a lock while it accepts requests, so there is never a second one that does; hooks that
are still running when it ends delay only their own callers.

This module does what the first reply needs, since the process that started the daemon waits for it; `loop` does the
rest.
"""

import contextlib
import os
import sys

if "SNELL_LISTEN_FD" in os.environ:  # only then a caller waits, and nothing else runs in this process
    with contextlib.suppress(ModuleNotFoundError):  # Snell works without it
        import snell.system.quick_start

# isort: split
import fcntl
import gc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from snell.daemon.listener import Listener, adopt, listen
from snell.model.errors import SnellError
from snell.system.files import LockedError, file_lock
from snell.system.paths import Places, make_private, places

LOCK_WAIT = 30.0  # seconds for an earlier daemon that finishes its last calls
FIRST_SECONDS = 0.5  # for the hooks of the first call: no other caller waits yet, and starting a thread takes longer

# The variables that the daemon keeps of the environment of the client that started it.
KEPT = ("HOME", "PATH", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "TMPDIR", "SNELL_HOME")
TURN = 0.001  # the thread switch interval in seconds: no thread may delay a reply for longer
KEPT_PREFIXES = ("XDG_",)


def main() -> int:
    """Run the daemon until it ends; return its exit code."""
    gc.disable()  # collections would take a tenth of the start, and modules stay loaded anyway
    sys.setswitchinterval(TURN)
    try:
        os.umask(0o077)
        kept = daemon_environment(os.environ)
        os.environ.clear()
        os.environ.update(kept)
        where = places(os.environ)
        make_private(where.run)
        listener = adopt(os.environ, where.run)
        with _only_one(where.run / "daemon.lock", LOCK_WAIT if listener else 0.0) as release:
            if not release:
                sys.stderr.write("snell: another daemon is running\n")
                return 0
            _serve(where, listener or listen(where.run), release)
    except SnellError as error:
        sys.stderr.write(f"snell: {error}\n")
        return 1
    return 0


def _serve(where: Places, listener: Listener, release: Callable[[], None]) -> None:
    from snell.daemon.request_handler import RequestHandler
    from snell.daemon.socket_server import SocketServer
    from snell.runtime.app import Runtime
    from snell.system.orphan_processes import CHILDREN

    idle = float(os.environ.pop("SNELL_IDLE", 0) or 0)
    is_subreaper = bool(os.environ.pop("SNELL_ADOPTS", ""))  # `snell-hook` asked the system for that
    CHILDREN.before_first_run = lambda: _prepare_runs(where.run, is_subreaper)
    runtime = Runtime.for_user(dict(os.environ), where, keep_open=True)
    handler = RequestHandler(runtime)
    server = SocketServer(listener.socket, handler)
    usual, runtime.executor.quick_seconds = runtime.executor.quick_seconds, FIRST_SECONDS
    signals = _hold_signals()  # the trace and watchers of the first event are left to the loop, which loads after it
    server.accept(1)
    runtime.executor.quick_seconds = usual
    CHILDREN.adopt_if_needed()
    if "snell.system.quick_start" in sys.modules:
        snell.system.quick_start.end()
    import asyncio

    from snell.daemon.loop import Daemon

    daemon = Daemon(where, listener, runtime, handler, server, idle=idle, release=release)
    asyncio.run(daemon.serve(must_end=signals))


def _prepare_runs(folder: Path, is_subreaper: bool) -> None:
    """Adopt the orphans of hooks' programs, and record which of these run; too slow for a first answer without any."""
    from snell.system.orphan_processes import adopt_orphans
    from snell.system.recorded_runs import RUNS

    adopt_orphans(is_subreaper)
    RUNS.record_in(folder)


def _hold_signals() -> list[int]:
    """Return a list that gets the signals which tell the daemon to end, until the loop handles them."""
    import _signal  # type: ignore[import-not-found]  # the stubs have only `signal`, which takes longer to import

    received: list[int] = []
    for number in (_signal.SIGTERM, _signal.SIGINT):
        _signal.signal(number, lambda number, _frame: received.append(number))
    return received


def daemon_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a daemon keeps of the environment of the process that starts it."""
    ours = ("SNELL_LISTEN_FD", "SNELL_IDLE", "SNELL_ADOPTS")
    return {n: value for n, value in env.items() if n in KEPT or n.startswith(KEPT_PREFIXES) or n in ours}


@contextlib.contextmanager
def _only_one(path: Path, wait: float) -> Iterator[Callable[[], None] | None]:
    """Hold the lock in the block, or until the yielded function is called; yields None if another process has it."""
    with contextlib.ExitStack() as held:
        try:
            descriptor = held.enter_context(file_lock(path, wait))
        except LockedError:
            yield None
            return
        try:
            written = os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)  # for `end_if_hung`
        except OSError:  # the disk is full: a daemon that hangs cannot be killed then
            written = 0
        os.ftruncate(descriptor, written)
        yield lambda: fcntl.flock(descriptor, fcntl.LOCK_UN)


if __name__ == "__main__":
    sys.exit(main())
