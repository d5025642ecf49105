"""
The daemon's socket: taken over from the `snell-hook` that started it, or made here, and given up without losing anyone.

`snell-hook` makes the socket before it starts the daemon, so requests wait in the queue from the first moment on.
"""

import _socket
import errno
import os
import socket
import stat
import struct
import sys
from collections.abc import MutableMapping
from pathlib import Path

from snell.system.files import file_lock
from snell.system.paths import PlaceError, make_private

SOCKET_NAME = "snell.sock"
LOCK_NAME = "start.lock"  # the one native/snell-hook.c takes
LISTEN_FD = "SNELL_LISTEN_FD"
LONGEST_ADDRESS = 103  # bytes; what the smallest system, macOS, takes
BACKLOG = 1024


class Listener:
    """A listening socket and its name in the file system."""

    def __init__(self, listening: socket.socket, path: Path) -> None:
        self.socket = listening
        self.path = path
        self._identity = _identity(path)

    @property
    def is_reachable(self) -> bool:
        """Is the socket still there? Whoever deletes its folder has no more use for us."""
        found = _identity(self.path)
        return found is not None and self._identity is not None and found[:2] == self._identity[:2]

    def withdraw(self) -> None:
        """
        Take the name away: whoever comes now starts another daemon.

        Those who came before are still in the queue: accept until there are none, then close.
        """
        with file_lock(self.path.with_name(LOCK_NAME)):
            if self._identity is not None and _identity(self.path) == self._identity:  # not a successor's
                self.path.unlink()


def socket_path(run: Path) -> Path:
    path = run / SOCKET_NAME
    if len(os.fsencode(path)) > LONGEST_ADDRESS:
        limit = f"a socket's path has at most {LONGEST_ADDRESS} bytes"
        raise PlaceError(f"is too long: {limit}", where=f"`{run}`", advice="set SNELL_HOME to a shorter one")
    return path


def adopt(env: MutableMapping[str, str], run: Path) -> Listener | None:
    """The socket that was left to us, which no process of ours inherits; None when we were started by hand."""
    named = env.pop(LISTEN_FD, None)
    if named is None:
        return None
    path = socket_path(run)
    try:
        listening = socket.socket(fileno=int(named))
    except (OSError, ValueError):
        raise _not_for_us(named) from None
    if not _listens_at(listening, path):
        listening.close()
        raise _not_for_us(named)
    listening.setblocking(False)
    listening.set_inheritable(False)
    return Listener(listening, path)


def listen(run: Path) -> Listener:
    """Make the socket; refused where somebody listens already."""
    path = socket_path(run)
    make_private(run)
    with file_lock(run / LOCK_NAME):
        if is_served(path):
            raise PlaceError("a daemon is running there", where=f"`{path}`", advice="stop it first")
        _remove_stale(path)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.setblocking(False)
        usual = os.umask(0o177)
        try:
            listening.bind(str(path))
            listening.listen(BACKLOG)
        finally:
            os.umask(usual)
        return Listener(listening, path)


def is_served(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        code = probe.connect_ex(str(path))
    return code in {0, errno.EAGAIN}  # again: its queue is full


def is_ours(connection: _socket.socket) -> bool:
    """Whether the process at the other end belongs to the same user."""
    level, option = (socket.SOL_SOCKET, socket.SO_PEERCRED) if sys.platform == "linux" else (0, 1)
    credentials = connection.getsockopt(level, option, 76)  # whatever the system: four other bytes, then the user's id
    (user,) = struct.unpack_from("=I", credentials, 4)
    return bool(user == os.geteuid())


def sender_of(connection: _socket.socket) -> int:
    """Return the process id at the other end; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    (pid,) = struct.unpack_from("=i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid)


def _listens_at(listening: socket.socket, path: Path) -> bool:
    is_listening = listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    return is_listening and listening.family == socket.AF_UNIX and Path(listening.getsockname()) == path


def _not_for_us(named: str) -> PlaceError:
    advice = "start the daemon without that variable"
    return PlaceError(f"{LISTEN_FD} is `{named}`, which is not a socket made for us", advice=advice)


def _remove_stale(path: Path) -> None:
    """What a daemon that was killed has left."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise PlaceError("is not a socket", where=f"`{path}`", advice="move it away")
    path.unlink()


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns  # the time, because the number of a removed file is used again
