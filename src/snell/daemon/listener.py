"""
The daemon's listening socket: inherited from the `snell-hook` that started it, or created here.

`snell-hook` creates the socket before it starts the daemon, so that requests can already wait in the queue.
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
LOCK_NAME = "start.lock"  # native/snell-hook.c uses the same file
LISTEN_FD = "SNELL_LISTEN_FD"
LONGEST_ADDRESS = 103  # bytes; the limit of macOS, the smallest one
BACKLOG = 1024


class Listener:
    """A listening socket and its name in the file system."""

    def __init__(self, listening: socket.socket, path: Path) -> None:
        self.socket = listening
        self.path = path
        self._identity = _identity(path)

    @property
    def is_reachable(self) -> bool:
        """Return whether the socket file still exists; without it no client can reach this daemon."""
        found = _identity(self.path)
        return found is not None and self._identity is not None and found[:2] == self._identity[:2]

    def withdraw(self) -> None:
        """
        Remove the socket file, so that new clients start another daemon.

        Earlier connections are still in the queue: accept until it is empty, then close.
        """
        with file_lock(self.path.with_name(LOCK_NAME)):
            if self._identity is not None and _identity(self.path) == self._identity:  # not the file of a successor
                self.path.unlink()


def socket_path(run: Path) -> Path:
    """Return the path of the socket in the run folder. Raises PlaceError if it is too long."""
    path = run / SOCKET_NAME
    if len(os.fsencode(path)) > LONGEST_ADDRESS:
        limit = f"a socket's path has at most {LONGEST_ADDRESS} bytes"
        raise PlaceError(f"is too long: {limit}", where=f"`{run}`", advice="set SNELL_HOME to a shorter path")
    return path


def adopt(env: MutableMapping[str, str], run: Path) -> Listener | None:
    """Return the socket that `snell-hook` passed on, made non-inheritable; None if the daemon was started by hand."""
    named = env.pop(LISTEN_FD, None)
    if named is None:
        return None
    path = socket_path(run)
    try:
        listening = socket.socket(fileno=int(named))
    except (OSError, ValueError):
        raise _wrong_descriptor(named) from None
    if not _listens_at(listening, path):
        listening.close()
        raise _wrong_descriptor(named)
    listening.setblocking(False)
    listening.set_inheritable(False)
    return Listener(listening, path)


def listen(run: Path) -> Listener:
    """Create the socket. Raises PlaceError if a daemon already listens there."""
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
    """Return whether a daemon listens on the socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        code = probe.connect_ex(str(path))
    return code in {0, errno.EAGAIN}  # EAGAIN: its queue is full


def is_ours(connection: _socket.socket) -> bool:
    """Return whether the process at the other end belongs to the same user."""
    level, option = (socket.SOL_SOCKET, socket.SO_PEERCRED) if sys.platform == "linux" else (0, 1)
    credentials = connection.getsockopt(level, option, 76)  # on all systems four other bytes, then the user's id
    (user,) = struct.unpack_from("=I", credentials, 4)
    return bool(user == os.geteuid())


def sender_of(connection: _socket.socket) -> int:
    """Return the process id at the other end; 0 if the system does not provide it."""
    if sys.platform != "linux":
        return 0
    (pid,) = struct.unpack_from("=i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(pid)


def _listens_at(listening: socket.socket, path: Path) -> bool:
    is_listening = listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    return is_listening and listening.family == socket.AF_UNIX and Path(listening.getsockname()) == path


def _wrong_descriptor(named: str) -> PlaceError:
    advice = "start the daemon without that variable"
    return PlaceError(f"{LISTEN_FD} is `{named}`, which is not the daemon's listening socket", advice=advice)


def _remove_stale(path: Path) -> None:
    """Remove the socket file of a daemon that was killed."""
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
    return found.st_dev, found.st_ino, found.st_ctime_ns  # with the time, because inode numbers are reused
