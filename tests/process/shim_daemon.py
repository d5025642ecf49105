"""A daemon that answers every request with its own process id, for tests of how it is started."""

import contextlib
import itertools
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path

from snell.daemon.listener import adopt
from snell.daemon.wire import Request, encode_reply
from snell.model.protocols import Reply
from snell.system.paths import places

LIFETIME = 60  # seconds, whatever happens to the test
SHORT_LIFE = 7  # connections


def main() -> None:
    signal.alarm(LIFETIME)
    run = places(os.environ).run
    home = Path(os.environ.get("SNELL_HOME") or run.parent)  # `run` may be in /tmp
    note(home)
    if (home / "refuse").exists():
        sys.exit(1)
    listener = adopt(os.environ, run)
    assert listener
    listening = socket.socket(fileno=os.dup(listener.socket.fileno()))
    short_lived = (home / "short-lived").exists()
    for _ in range(SHORT_LIFE) if short_lived else itertools.count():
        select.select([listening], [], [])
        serve(listening, home)
    listener.withdraw()
    while select.select([listening], [], [], 0)[0]:
        serve(listening, home)


def serve(listening: socket.socket, home: Path) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.setblocking(True)
        request = read(connection)
        if request:
            with (home / "served").open("a", encoding="utf-8") as served:
                served.write(f"{request.request_id}\n")
            connection.sendall(encode_reply(Reply(b"answered\n")))


def note(home: Path) -> None:
    """Says who we are and what we were given."""
    told = {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "leads_session": os.getsid(0) == os.getpid(),
        "cwd": os.getcwd(),
        "umask": os.umask(0o077),
        "environment": {name: value for name, value in os.environ.items() if name != "PWD"},  # that is the shell's
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


def read(connection: socket.socket) -> Request | None:
    data = bytearray()
    while (length := Request.frame_length(data)) is None or len(data) < length:
        part = connection.recv(1 << 16)
        if not part:
            return None
        data += part
    return Request.decode(data[:length])


main()
