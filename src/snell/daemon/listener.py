"""
The daemon's listening socket: inherited from the `snell-hook` that started it, or created here.

`snell-hook` creates the socket before it starts the daemon, so that requests can already wait in the queue.
"""

import _socket
import errno
import os
import socket
from collections.abc import MutableMapping
from pathlib import Path

from snell.daemon.shim_connection import LONGEST_ADDRESS, NoDaemonError
from snell.daemon.shim_start import bind_socket
from snell.system.files import file_lock, stat_or_none
from snell.system.paths import PlaceError, make_private

SOCKET_NAME = "snell.sock"
LOCK_NAME = "start.lock"  # native/snell-hook.c uses the same file
LISTEN_FD = "SNELL_LISTEN_FD"


class Listener:
    """A listening socket and its name in the file system."""

    def __init__(self, listening: _socket.socket, path: Path) -> None:
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
    wrong = f"{LISTEN_FD} is `{named}`, which is not the daemon's listening socket"
    error = PlaceError(wrong, advice="start the daemon without that variable")
    try:
        listening = _socket.socket(fileno=int(named))
    except (OSError, ValueError):
        raise error from None
    is_listening = listening.getsockopt(_socket.SOL_SOCKET, _socket.SO_ACCEPTCONN) == 1
    if not is_listening or listening.family != _socket.AF_UNIX or Path(listening.getsockname()) != path:
        listening.close()
        raise error
    listening.setblocking(False)
    os.set_inheritable(listening.fileno(), False)
    return Listener(listening, path)


def listen(run: Path) -> Listener:
    """Create the socket. Raises PlaceError if a daemon already listens there."""
    path = socket_path(run)
    make_private(run)
    with file_lock(run / LOCK_NAME):
        if is_served(path):
            raise PlaceError("a daemon is running there", where=f"`{path}`", advice="stop it first")
        try:
            return Listener(socket.socket(fileno=bind_socket(os.fsencode(path)).detach()), path)
        except NoDaemonError as error:
            raise PlaceError(error.text.decode("utf-8", "replace")) from None


def is_served(path: Path) -> bool:
    """Return whether a daemon listens on the socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        code = probe.connect_ex(str(path))
    return code in {0, errno.EAGAIN}  # EAGAIN: its queue is full


def _identity(path: Path) -> tuple[int, int, int] | None:
    found = stat_or_none(path, follow_links=False)
    # With the time, because inode numbers are reused.
    return (found.st_dev, found.st_ino, found.st_ctime_ns) if found else None
