"""
Kill a daemon that listens but does not answer, because it was stopped by a signal or hangs.

No decision that was sent is lost by that, and the next event starts a new daemon.
"""

import fcntl
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from snell.daemon.client import PING_SECONDS, DaemonError, HungDaemonError, ask

LOCK = "daemon.lock"
GONE_SECONDS = 5.0


def end_if_hung(run: Path) -> int | None:
    """Kill the daemon if it does not answer a ping; return its process id if it was killed."""
    try:
        ask(run, "ping", seconds=PING_SECONDS)
    except HungDaemonError:
        return _kill_holder(run / LOCK)
    except DaemonError:
        return None
    return None


def _kill_holder(lock: Path) -> int | None:
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        pid = _holder(descriptor)
        if pid is None:
            return None
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + GONE_SECONDS
        while _is_held(descriptor) and time.monotonic() < deadline:
            time.sleep(0.01)
    except OSError:
        return None  # it has ended by itself
    finally:
        os.close(descriptor)
    return pid


def _holder(descriptor: int) -> int | None:
    """Return the process id that the holder of the lock has written into it."""
    if not _is_held(descriptor):
        return None
    with suppress(ValueError):
        pid = int(os.pread(descriptor, 32, 0))
        return pid if pid > 1 else None
    return None


def _is_held(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False
