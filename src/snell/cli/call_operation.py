"""Call an operation: in the daemon when one is running, else in a runtime of this process. And start the daemon."""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from snell.daemon.client import DaemonError, NoDaemonError, ask
from snell.model.errors import SnellError
from snell.system.paths import make_private, places

# Variables of the environment that identify the calling agent and its session.
_PASSED_ON = ("AGENT_", "CLAUDE_PLUGIN", "SNELL_SUPERVISOR")
START_SECONDS = 15.0

Found = TypeVar("Found")


def call_operation(command: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """Return the result of an operation such as `effort.start`. Raises SnellError."""
    env = {name: os.environ[name] for name in os.environ if name.startswith(_PASSED_ON)}
    env["CWD"] = os.getcwd()
    # Python passes bytes that are not UTF-8 as surrogates, which cannot be sent.
    try:
        json.dumps([arguments, env], ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        shown = error.object[error.start : error.end].encode("utf-8", "backslashreplace").decode()
        raise SnellError(f"an argument contains `{shown}`, which is not UTF-8", advice="write it in UTF-8") from None
    where = places(os.environ)
    try:
        return ask(where.run, command, arguments, env)
    except NoDaemonError:
        from snell.settings.load import load

        if not load(where, Path("/"), os.environ).value("database"):
            result = _call_in_this_process(command, arguments or {}, env)
            if command == "agent.status" and result["pane"]:
                ensure_started(where.run)  # it shows the status in tmux
            return result
    ensure_started(where.run)  # only the daemon knows what other machines did
    return ask(where.run, command, arguments, env)


def _call_in_this_process(command: str, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
    from snell.operations import call_for
    from snell.runtime.app import Runtime

    with Runtime.for_user() as runtime:
        call = call_for(command, runtime)
        if call is None:
            raise SnellError(f"unknown command `{command}`")
        return call(arguments, env)


def ensure_started(where: Path) -> Any:
    """Return the daemon's status; start the daemon first if none is running. Raises SnellError."""
    if found := running_status(where):
        return found
    import subprocess  # slow to import, like the daemon

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
