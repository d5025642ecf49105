"""Where the daemon listens, and how to get it there: the rules of paths.py, in built-in modules only."""

import _socket
import posix
import sys
import time

from snell.daemon.shim_descriptors import NoDaemonError

CONNECT_SECONDS = 2.0
LONGEST_ADDRESS = 103  # bytes; what the smallest system, macOS, takes


class ShimPaths:
    """The directory and the socket in it."""

    def __init__(self) -> None:
        self.run = _run_directory()
        self.socket = self.run + b"/snell.sock"
        self.gave_up = self.run + b"/gave-up"
        self.starts = 0
        if len(self.socket) > LONGEST_ADDRESS:
            limit = f"a socket's path has at most {LONGEST_ADDRESS} bytes"
            raise NoDaemonError(self.run, f"is too long: {limit}; set SNELL_HOME to a shorter one")

    def reach(self) -> _socket.socket:
        """A connection to the daemon, which is started if need be."""
        until = time.monotonic() + CONNECT_SECONDS
        while time.monotonic() < until:
            try:
                return self.connect()
            except (FileNotFoundError, ConnectionRefusedError):
                from snell.daemon.shim_start import start_alone

                daemon = start_alone(self)
                if daemon is not None:
                    return daemon
            except BlockingIOError:
                pass  # its queue is full
            time.sleep(0.005)
        raise NoDaemonError(self.socket, "the daemon takes no connections")

    def connect(self) -> _socket.socket:
        daemon = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        daemon.settimeout(0.0)
        try:
            daemon.connect(self.socket)
        except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):
            daemon.close()
            raise
        except OSError:
            raise NoDaemonError(self.socket, "cannot be connected to") from None
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
    credentials = daemon.getsockopt(level, option, 76)  # whatever the system: four other bytes, then the user's id
    return int.from_bytes(credentials[4:8], sys.byteorder) == posix.geteuid()
