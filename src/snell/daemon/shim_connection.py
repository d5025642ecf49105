"""
The client's side of the daemon's socket: find it, connect, send one request and receive the reply, within time limits.

`wire.py` describes the frames and has the daemon's side. Built-in modules only; `system/paths.py` has the same rules
for the run directory.
"""

import _socket
import posix
import select
import sys
import time

PROTOCOL = b"1"
LARGEST_STDIN = 16 * 1024 * 1024  # without the daemon it is 64 MB
LARGEST_REPLY = 17 * 1024 * 1024  # stdout and stderr together
LARGEST_ARGUMENTS = 128 * 1024
LARGEST_ENVIRONMENT = 64 * 1024
LONGEST_ADDRESS = 103  # bytes; the limit of macOS, the smallest one
CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 605.0  # the longest time limit of a hook, and a little more
ATOMIC = 4096  # bytes that a writable pipe accepts without blocking

TYPE_CHECKING = False  # as in `typing`, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Start = Callable[["ShimPaths"], _socket.socket | None]  # starts the daemon, or lets another process do it


class NoDaemonError(Exception):
    """Why the daemon cannot be reached; bytes, because a path may contain any."""

    def __init__(self, where: bytes, what: str) -> None:
        super().__init__(where, what)
        self.text = b"`" + where + b"`: " + what.encode()


class ShimPaths:
    """The run directory and the socket in it."""

    def __init__(self) -> None:
        self._usual_run = _run_directory()
        self.starts = 0
        self._use_run_folder(self._usual_run)
        if len(self.socket) > LONGEST_ADDRESS:
            self.use_other_folder()

    def _use_run_folder(self, run: bytes) -> None:
        self.run, self.socket, self.gave_up = run, run + b"/snell.sock", run + b"/gave-up"

    def use_other_folder(self) -> bool:
        """Use the folder for a path that cannot be written; return False if it is in use already."""
        before, digest = self.run, 14695981039346656037
        for byte in self._usual_run:
            digest = (digest ^ byte) * 1099511628211 & (1 << 64) - 1  # FNV-1a
        self._use_run_folder(f"/tmp/snell-{posix.geteuid()}-{digest:016x}".encode())
        return self.run != before

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

    def forget_failures(self) -> None:
        """Note that the daemon that was started has answered."""
        try:
            posix.unlink(self.gave_up)
        except OSError:
            return  # there were none

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
        if not is_ours(daemon):
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


def working_directory() -> bytes:
    """Return the working directory; empty if it was removed."""
    try:
        return posix.getcwdb()
    except OSError:
        return b""


def is_ours(connection: _socket.socket) -> bool:
    """Return whether the process at the other end belongs to the same user."""
    return peer_of(connection)[1] == posix.geteuid()


def peer_of(connection: _socket.socket) -> tuple[int, int]:
    """Return the process id at the other end, 0 if the system does not provide it, and the id of its user."""
    is_linux = sys.platform == "linux"
    level, option = (_socket.SOL_SOCKET, _socket.SO_PEERCRED) if is_linux else (0, 1)
    credentials = connection.getsockopt(level, option, 76)  # on all systems four other bytes, then the user's id
    process = int.from_bytes(credentials[:4], sys.byteorder) if is_linux else 0
    return process, int.from_bytes(credentials[4:8], sys.byteorder)


def encode_request(
    request_id: bytes, version: bytes, cwd: bytes, argv: bytes, environment: bytes, stdin: bytes
) -> bytes:
    """Return the frame of a request; arguments and environment are joined by NUL."""
    fields = (PROTOCOL + b" " + version, request_id, cwd, argv, environment, stdin)
    rest = b"".join(part for field in fields for part in (len(field).to_bytes(4, "little"), field))
    return b"SNL1" + len(rest).to_bytes(4, "little") + rest


def join_environment(entries: "Iterable[bytes]") -> bytes:
    """Join `NAME=value` entries as a request carries them; entries that do not fit are left out."""
    room, kept = LARGEST_ENVIRONMENT, []
    for entry in entries:
        if len(entry) <= room:
            kept.append(entry)
            room -= len(entry) + 1
    return b"\0".join(kept)


def read_all(descriptor: int, most: int, until: float) -> tuple[bytes, bool]:
    """Return all data, and whether the end was reached; a closed descriptor counts as empty."""
    parts: list[bytes] = []
    length, poll = 0, select.poll()
    poll.register(descriptor, select.POLLIN)
    while length <= most and poll.poll(max(0.0, until - time.monotonic()) * 1000):
        part = read_some(descriptor)
        if part == b"":
            return b"".join(parts), True
        parts.append(part or b"")
        length += len(parts[-1])
    return b"".join(parts), False


def read_some(descriptor: int) -> bytes | None:
    """Return the available data; empty at the end, None if there is none yet."""
    try:
        return posix.read(descriptor, 1 << 18)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def write_all(descriptor: int, data: bytes) -> bool:
    """Write all data; return whether that succeeded."""
    view, until, poll = memoryview(data), time.monotonic() + ANSWER_SECONDS, select.poll()
    poll.register(descriptor, select.POLLOUT)
    while view:
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            return False
        taken = write_some(descriptor, view)
        if taken is None:
            return False
        view = view[taken:]
    return True


def write_some(descriptor: int, data: bytes | memoryview) -> int | None:
    """Return how many bytes were written; None if the other end is closed."""
    try:
        return posix.write(descriptor, data[:ATOMIC])
    except BlockingIOError:
        return 0
    except OSError:
        return None
