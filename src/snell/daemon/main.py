"""
The daemon: a house that is kept warm behind a Unix socket, one for each user.

It is started by the first `snell-hook` that finds nobody listening, serves until it has been idle for a while, and
makes room for a newer version of itself. A lock is held for as long as it takes requests, so there is never a second
one that does; hooks that are still running when it goes hold up nobody but their own callers.

Whoever started it waits: here stands what must be done before its answer, in `daemon_life` what comes after.
"""

import contextlib
import fcntl
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import snell.system.msgspec_import  # noqa: F401 - before anybody else imports msgspec

# isort: split
from snell.daemon.listener import Listener, adopt, listen
from snell.model.errors import SnellError
from snell.system.paths import Places, make_private, places

LOCK_WAIT = 30.0  # for a predecessor that is finishing its last calls
FIRST_PATIENCE = 0.5  # seconds for the hooks of the first call: nobody else is served yet, and a thread takes longer

# What the daemon keeps of the environment it was started with: that of the first caller, whoever it was.
KEPT = ("HOME", "PATH", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "TMPDIR", "SNELL_HOME")
TURN = 0.001  # seconds that another thread may keep those waiting who need an answer
KEPT_PREFIXES = ("XDG_",)


def main() -> int:
    """Serve until there is nothing left to do."""
    gc.disable()  # what is loaded stays, and looking it through would be a tenth of the start
    sys.setswitchinterval(TURN)
    try:
        os.umask(0o077)
        _scrub_environment()
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
    from snell.system.run_program import adopt_orphans

    idle = float(os.environ.pop("SNELL_IDLE", 0) or 0)
    adopt_orphans()
    runtime = Runtime.for_user(dict(os.environ), where, keep_open=True)
    service = RequestHandler(runtime)
    front = SocketServer(listener.socket, service)
    usual, runtime.executor.quick_seconds = runtime.executor.quick_seconds, FIRST_PATIENCE
    front.accept(1)
    runtime.executor.quick_seconds = usual
    import asyncio

    from snell.daemon.loop import Daemon

    asyncio.run(Daemon(where, listener, runtime, service, front, idle=idle, release=release).serve())


def daemon_environment(env: Mapping[str, str]) -> dict[str, str]:
    """What a daemon may know of the environment of whoever starts it."""
    ours = ("SNELL_LISTEN_FD", "SNELL_IDLE")
    return {n: value for n, value in env.items() if n in KEPT or n.startswith(KEPT_PREFIXES) or n in ours}


def _scrub_environment() -> None:
    rest = daemon_environment(os.environ)
    os.environ.clear()
    os.environ.update(rest)


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
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)  # for `silent_daemon`
            yield lambda: fcntl.flock(descriptor, fcntl.LOCK_UN)
            return
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main())
