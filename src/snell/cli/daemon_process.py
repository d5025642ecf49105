"""Start the daemon and wait until it answers, or until it has ended."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from snell.daemon.client import DaemonError, ask
from snell.model.errors import SnellError
from snell.system.paths import make_private

START_SECONDS = 15.0

Found = TypeVar("Found")


def ensure_started(where: Path) -> Any:
    """Return the daemon's status; start the daemon first if none is running. Raises SnellError."""
    if found := running_status(where):
        return found
    from snell.daemon.main import daemon_environment

    make_private(where)
    subprocess.Popen(
        [sys.executable, "-I", "-m", "snell.daemon.main"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env=daemon_environment(os.environ),
    )
    return wait_until(lambda: running_status(where), "the daemon did not start; `snell daemon run` shows why")


def running_status(where: Path) -> Any:
    """Return the daemon's status, or None if no daemon answers."""
    try:
        return ask(where, "status")
    except DaemonError:
        return None


def wait_until(condition: Callable[[], Any], otherwise: str) -> Any:
    """Poll a condition and return what it returned. Raises SnellError with `otherwise`."""
    if found := poll(condition, START_SECONDS):
        return found
    raise SnellError(otherwise)


def poll(condition: Callable[[], Found], seconds: float) -> Found:
    """Call a function until it returns something true or the time is over; return its last result."""
    deadline = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found
