"""Call an operation in the daemon: one line of JSON is sent, one is received. And kill a daemon that hangs."""

import os
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.daemon.listener import socket_path
from snell.model.errors import SnellError
from snell.system.files import try_lock
from snell.system.json_output import json_bytes

ANSWER_SECONDS = 10.0
PING_SECONDS = 1.0
GONE_SECONDS = 5.0


class DaemonError(SnellError):
    """The daemon cannot be reached, or answered with an error."""

    id = "daemon"
    code = ""  # the error code in the daemon's answer


class HungDaemonError(DaemonError):
    """A daemon is listening, but does not answer."""

    id = "silent-daemon"


class NoDaemonError(DaemonError):
    """No daemon is listening."""

    id = "no-daemon"


def ask(
    run: Path,
    command: str,
    arguments: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    *,
    seconds: float = ANSWER_SECONDS,
) -> Any:
    """Return the result of a command. Raises DaemonError."""
    path = socket_path(run)
    line = json_bytes({"cmd": command, "args": dict(arguments or {}), "env": dict(env or {})}) + b"\n"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(seconds)
            connection.connect(str(path))
            connection.sendall(line)
            with connection.makefile("rb") as answers:
                answer = msgspec.json.decode(answers.readline())
    except (FileNotFoundError, ConnectionRefusedError):
        raise NoDaemonError("no daemon is running", where=str(path), advice="`snell daemon start` starts one") from None
    except TimeoutError:
        advice = "`snell daemon stop` kills it, and the next hook starts a new one"
        raise HungDaemonError(f"the daemon did not answer for {seconds:g} s", where=str(path), advice=advice) from None
    except (OSError, msgspec.DecodeError) as error:
        advice = "restart it with `snell daemon stop`"
        raise DaemonError(f"the daemon did not answer: {error}", where=str(path), advice=advice) from None
    if not answer.get("ok"):
        refused = DaemonError(answer.get("message", "the daemon answered with an error"))
        refused.code = str(answer.get("error", ""))
        raise refused
    return answer["data"]


def end_if_hung(run: Path) -> int | None:
    """
    Kill a daemon that listens but does not answer, because it was stopped by a signal or hangs; return its process id.

    No decision that was sent is lost by that, and the next event starts a new daemon.
    """
    try:
        ask(run, "ping", seconds=PING_SECONDS)
    except HungDaemonError:
        return _kill_holder(run / "daemon.lock")
    except DaemonError:
        pass
    return None


def _kill_holder(lock: Path) -> int | None:
    """Kill the process that holds the lock, by the id that it has written into it; return the id."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if try_lock(descriptor) or (pid := int(os.pread(descriptor, 32, 0))) <= 1:
            return None
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + GONE_SECONDS
        while not try_lock(descriptor) and time.monotonic() < deadline:
            time.sleep(0.01)
        return pid
    except (OSError, ValueError):
        return None  # it has ended by itself
    finally:
        os.close(descriptor)
