"""`snell-hook --bridge NAME`: connect stdin and stdout to a protocol server in the daemon."""

import _socket
import select
import time

from snell.daemon import shim_connection as connection
from snell.daemon.shim_connection import CONNECT_SECONDS, NoDaemonError, ShimPaths, read_some, write_all, write_some

TYPE_CHECKING = False  # as in `typing`, which is slow to import
if TYPE_CHECKING:
    from snell.daemon.shim_connection import Start

GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL


def bridge(name: bytes, start: "Start") -> int:
    """Relay data until one end closes; return the exit code. `start` starts the daemon."""
    plain = name.translate(None, b"._-")
    if not (plain.isalnum() and plain.isascii()):
        advice = "call `snell-hook --bridge NAME` with letters, digits, `.`, `_` and `-`"
        write_all(2, b"snell-hook: `" + name + f"`: is not a valid name; {advice}\n".encode())
        return 1
    try:
        daemon = ShimPaths().reach(start)
    except NoDaemonError as trouble:
        write_all(2, b"snell-hook: " + trouble.text + b"\n")
        return 1
    cwd = connection.working_directory().hex().encode()  # so that no path needs quoting
    Relay(daemon, b'{"cmd":"bridge","args":{"name":"' + name + b'","cwd":"' + cwd + b'"}}\n').run()
    return 0


class Relay:
    """Two streams, each with the data that was read and is not written yet."""

    def __init__(self, daemon: _socket.socket, first: bytes) -> None:
        self.daemon = daemon
        self.up: bytes = first
        self.down = b""
        self.stdin_is_open = True
        self.daemon_is_open = True
        self.until: float | None = None

    def run(self) -> None:
        """Relay until the daemon or stdout closes; after the end of stdin the daemon has a little time to answer."""
        while (self.daemon_is_open or self.down) and (self.until is None or time.monotonic() < self.until):
            ready = self._ready()
            if ready.get(1, 0) & GONE:
                return
            self._send_up(ready)
            self._send_down(ready)
            if self.until is None and not self.stdin_is_open and not self.up:
                self.until = time.monotonic() + CONNECT_SECONDS
                self._shut_down_writing()

    def _shut_down_writing(self) -> None:
        try:
            self.daemon.shutdown(_socket.SHUT_WR)
        except OSError:
            return  # the daemon has closed, as the next poll will tell

    def _ready(self) -> dict[int, int]:
        there, poll = self.daemon.fileno(), select.poll()
        wanted = (select.POLLOUT if self.up else 0) | (0 if self.down else select.POLLIN)
        poll.register(1, select.POLLOUT if self.down else 0)  # also when idle: it reports that stdout was closed
        if self.stdin_is_open and not self.up:
            poll.register(0, select.POLLIN)
        if self.daemon_is_open and wanted:
            poll.register(there, wanted)
        return dict(poll.poll(None if self.until is None else CONNECT_SECONDS * 1000))

    def _send_up(self, ready: dict[int, int]) -> None:
        if self.up and ready.get(self.daemon.fileno(), 0) & (select.POLLOUT | GONE):
            taken = write_some(self.daemon.fileno(), self.up)
            self.stdin_is_open = self.stdin_is_open and taken is not None
            self.up = b"" if taken is None else self.up[taken:]
        elif ready.get(0):
            read = read_some(0)
            self.stdin_is_open = read != b""
            self.up = read or b""

    def _send_down(self, ready: dict[int, int]) -> None:
        if self.down and ready.get(1):
            taken = write_some(1, self.down)
            self.down = b"" if taken is None else self.down[taken:]
        elif not self.down and ready.get(self.daemon.fileno(), 0) & (select.POLLIN | GONE):
            read = read_some(self.daemon.fileno())
            self.daemon_is_open = read != b""
            self.down = read or b""
