"""
A daemon that is there and says nothing: stopped by somebody, or hanging in a way that we did not think of.

It is killed. Nothing that was answered for is lost by that, and the next event starts another one.
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
    """Kill the daemon if it does not even answer a ping; returns its process id if it did not."""
    try:
        ask(run, "ping", seconds=PING_SECONDS)
    except HungDaemonError:
        return _end(run / LOCK)
    except DaemonError:
        return None
    return None


def _end(lock: Path) -> int | None:
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
        return None  # it went by itself
    finally:
        os.close(descriptor)
    return pid


def _holder(descriptor: int) -> int | None:
    """Whoever holds the lock has written down who it is."""
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
