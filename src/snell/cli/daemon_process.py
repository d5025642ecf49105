"""Start the daemon and wait until it answers, or until it has ended."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from snell.daemon.client import DaemonError, ask
from snell.model.errors import SnellError
from snell.system.paths import make_private

START_SECONDS = 15.0


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


def wait_until(condition: Any, otherwise: str) -> Any:
    """Poll a condition until it returns something true, and return that. Raises SnellError with `otherwise`."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise SnellError(otherwise)
