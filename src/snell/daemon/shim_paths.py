"""Find and connect to the daemon's socket: the rules of paths.py, with built-in modules only."""

import _socket
import posix
import sys
import time

from snell.daemon.shim_descriptors import NoDaemonError

CONNECT_SECONDS = 2.0
LONGEST_ADDRESS = 103  # bytes; the limit of macOS, the smallest one

TYPE_CHECKING = False  # as in `typing`, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

    Start = Callable[["ShimPaths"], _socket.socket | None]  # starts the daemon, or lets another process do it


class ShimPaths:
    """The run directory and the socket in it."""

    def __init__(self) -> None:
        self.run = _run_directory()
        self.socket = self.run + b"/snell.sock"
        self.gave_up = self.run + b"/gave-up"
        self.starts = 0
        if len(self.socket) > LONGEST_ADDRESS:
            limit = f"a socket's path has at most {LONGEST_ADDRESS} bytes"
            raise NoDaemonError(self.run, f"is too long: {limit}; set SNELL_HOME to a shorter path")

    def reach(self, start: "Start") -> _socket.socket:
        """Return a connection to the daemon; start it first if none is running."""
        until = time.monotonic() + CONNECT_SECONDS
        while time.monotonic() < until:
            try:
                return self.connect()
            except (FileNotFoundError, ConnectionRefusedError):
                daemon = start(self)
                if daemon is not None:
                    return daemon
            except BlockingIOError:
                pass  # its queue is full
            time.sleep(0.005)
        raise NoDaemonError(self.socket, "the daemon does not accept connections")

    def connect(self) -> _socket.socket:
        """Connect to the socket, without waiting. Raises OSError or NoDaemonError."""
        daemon = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        daemon.settimeout(0.0)
        try:
            daemon.connect(self.socket)
        except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):
            daemon.close()
            raise
        except OSError:
            raise NoDaemonError(self.socket, "connecting failed") from None
        if not _is_ours(daemon):
            raise NoDaemonError(self.socket, "belongs to another user; set SNELL_HOME to a directory of your own")
        return daemon


def _run_directory() -> bytes:
    env = posix.environ
    home, state = env.get(b"SNELL_HOME", b""), env.get(b"XDG_STATE_HOME", b"")
    if home:
        return _absolute(home) + b"/run"
    if state.startswith(b"/"):
        return state + b"/snell/run"
    return _absolute(env.get(b"HOME") or b"HOME") + b"/.local/state/snell/run"


def _absolute(path: bytes) -> bytes:
    if path.startswith(b"/"):
        return path
    raise NoDaemonError(path, "is not an absolute path; set HOME or SNELL_HOME to one")


def _is_ours(daemon: _socket.socket) -> bool:
    level, option = (_socket.SOL_SOCKET, _socket.SO_PEERCRED) if sys.platform == "linux" else (0, 1)
    credentials = daemon.getsockopt(level, option, 76)  # on all systems four other bytes, then the user's id
    return int.from_bytes(credentials[4:8], sys.byteorder) == posix.geteuid()
