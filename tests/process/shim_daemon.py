"""A daemon that answers every request with its own process id, for tests of how it is started."""

import contextlib
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path

from snell.machine.activation import adopt
from snell.machine.paths import places
from snell.machine.wire import Reply, Request

LIFETIME = 60  # seconds, whatever happens to the test


def main() -> None:
    signal.alarm(LIFETIME)
    run = places(os.environ).run
    note(run.parent)
    if (run.parent / "refuse").exists():
        sys.exit(1)
    listener = adopt(os.environ, run)
    assert listener
    while select.select([listener.socket], [], []):
        connection, _ = listener.socket.accept()
        with connection:
            connection.setblocking(True)
            connection.sendall(Reply(0, b"answered\n").encode() if is_request(connection) else b"")


def note(home: Path) -> None:
    """Says who we are and what we were given."""
    told = {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "leads_session": os.getsid(0) == os.getpid(),
        "cwd": os.getcwd(),
        "umask": os.umask(0o077),
        "environment": dict(os.environ),
        "descriptors": descriptors(),
    }
    temporary = home / f".{os.getpid()}"
    temporary.write_text(json.dumps(told), encoding="utf-8")
    temporary.rename(home / f"daemon-{os.getpid()}")


def descriptors() -> list[str]:
    """What each stands for, without numbers."""
    links = []
    for name in sorted(os.listdir("/proc/self/fd")):
        with contextlib.suppress(FileNotFoundError):  # the one that listed them
            links.append(os.readlink(f"/proc/self/fd/{name}").partition(":")[0])
    return links


def is_request(connection: socket.socket) -> bool:
    data = bytearray()
    while len(data) != Request.needed(data):
        part = connection.recv(1 << 16)
        if not part:
            return False
        data += part
    return bool(Request.decode(data))


main()
