"""One connection to the daemon's socket: a request of `snell-hook` and its reply, or lines of remote calls."""

import _socket
import contextlib
import socket
from typing import TYPE_CHECKING

from snell.daemon.listener import sender_of
from snell.daemon.wire import KEEPALIVE, Request, WireError
from snell.daemon.wire import Reply as Frame
from snell.model.protocols import Reply

if TYPE_CHECKING:
    import asyncio

    from snell.daemon.socket_server import SocketServer

CHUNK = 1 << 18
FIRST = 1 << 14  # bytes: enough for most requests; a larger buffer costs an allocation
REQUEST_SECONDS = 10.0  # for a sender to finish its request
LONGEST_LINE = 17 * 1024 * 1024
LINES_AT_ONCE = 64  # of one caller, before other connections get a turn
MOST_UNSENT = 65_536  # bytes that a caller may leave unread before its next lines are not read
BRIDGE = b'{"cmd":"bridge",'


class Connection:
    """Reads from one socket without blocking, and sends the replies in order."""

    def __init__(self, server: "SocketServer", connection: _socket.socket) -> None:
        self._server = server
        self._socket = connection
        self._buffer = bytearray()
        self._unsent = b""
        self._is_waiting = False
        self._is_writing = False
        self._closes = False
        self._has_replied = False
        self._speaks_lines = False
        self._is_at_end = False  # the caller sends no more lines
        self._answering: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def _loop(self) -> "asyncio.AbstractEventLoop":
        assert self._server.loop, "a connection that waits before the loop runs is held by the server"
        return self._server.loop

    def resume(self) -> None:
        """Continue a connection that was held until the event loop ran."""
        if self._unsent:
            self._wait_to_send()
        elif self._speaks_lines:
            self._resume_lines()
        else:
            self._wait()

    def readable(self) -> None:
        """Read the available data. `snell-hook` has usually sent everything before the connection is accepted."""
        try:
            data = self._socket.recv(FIRST)
            if len(data) == FIRST:
                with contextlib.suppress(BlockingIOError):
                    data += self._socket.recv(CHUNK)
        except BlockingIOError:
            self._wait()
            return
        except OSError:
            self.close()
            return
        self._buffer += data
        if not data and self._speaks_lines and self._buffer and not self._buffer.endswith(b"\n"):
            self._buffer += b"\n"  # the last line often has no newline
        if not self._process(at_end=not data) and data:
            self._wait()
        elif not data and not self._closes:
            self._is_at_end = True
            self._stop_waiting()
            self._close_when_done()

    def _process(self, *, at_end: bool) -> bool:
        """Handle complete requests or lines; return True when no more data is expected."""
        if self._speaks_lines or (self._buffer and self._buffer[0] != ord("S")):
            return self._process_lines()
        try:
            needed = Request.frame_length(self._buffer)
            if needed is None or len(self._buffer) < needed:
                return at_end
            frame = bytes(self._buffer[:needed]) if len(self._buffer) > needed else bytes(self._buffer)
            request = Request.decode(frame, sender_of(self._socket))
        except WireError as error:
            self._reply(Reply(stderr=f"snell: {error}\n".encode("utf-8", "replace"), exit_code=1))
            return True
        self._stop_waiting()
        self._buffer.clear()
        self._closes = True
        self._server.request(request, self._reply)
        if not self._has_replied:
            self._server.await_reply(self)
        return True

    def _process_lines(self) -> bool:
        """Answer the complete lines in order: a line waits until the one before it is answered."""
        self._speaks_lines = True
        if self._server.loop is None:
            return False
        for _ in range(LINES_AT_ONCE):
            if self._answering or len(self._unsent) > MOST_UNSENT or (end := self._buffer.find(b"\n")) < 0:
                break
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            if line.startswith(BRIDGE):
                self._hand_to_bridge(line)
                return True
            self._answering = self._server.call(line, self._send)
            if self._answering:
                self._answering.add_done_callback(self._on_answered)
        else:
            self._loop.call_soon(self._resume_lines)  # other connections first
        if len(self._buffer) > LONGEST_LINE:
            self.close()
            return True
        return False

    def _hand_to_bridge(self, line: bytes) -> None:
        self._stop_waiting()
        rest = bytes(self._buffer)
        self._buffer.clear()
        connection = socket.socket(fileno=self._socket.detach())
        self._server.remove(self)
        self._server.hand_to_bridge(line, connection, rest)

    def _on_answered(self, _task: "asyncio.Task[None]") -> None:
        self._answering = None
        self._resume_lines()

    def _resume_lines(self) -> None:
        """Answer the lines that had to wait."""
        if self._socket.fileno() < 0:
            return
        self._process_lines()
        if self._is_at_end:
            self._close_when_done()
        elif self._socket.fileno() >= 0:
            self._wait()

    def _close_when_done(self) -> None:
        has_lines = self._speaks_lines and b"\n" in self._buffer
        if self._is_at_end and not self._unsent and not self._answering and not has_lines:
            self.close()

    def send_keepalive(self) -> None:
        if not self._unsent:
            with contextlib.suppress(OSError):  # a closed connection is noticed when the reply is sent
                self._socket.send(KEEPALIVE)

    def _reply(self, reply: Reply) -> None:
        self._closes = self._has_replied = True
        self._server.awaiting_reply.discard(self)
        self._send(Frame(reply.exit_code, reply.stdout, reply.stderr).encode())

    def _send(self, data: bytes) -> None:
        if self._unsent:
            self._unsent += data
            return
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self.close()
            return
        self._unsent = data[sent:]
        if self._unsent:
            self._wait_to_send()
        elif self._closes:
            self.close()

    def _wait_to_send(self) -> None:
        if self._server.loop is None:
            self._server.hold(self)
            return
        self._is_writing = True
        self._server.add(self)
        self._loop.add_writer(self._socket.fileno(), self._writable)

    def _writable(self) -> None:
        data, self._unsent = self._unsent, b""
        self._stop_writing()
        self._send(data)
        if self._speaks_lines:
            self._resume_lines()

    def _wait(self) -> None:
        if self._server.loop is None:
            self._server.hold(self)
            return
        if len(self._unsent) > MOST_UNSENT:
            self._stop_waiting()  # no new lines from a caller that does not read its answers
            return
        if not self._is_waiting:
            self._is_waiting = True
            self._server.add(self)
            self._loop.add_reader(self._socket.fileno(), self.readable)
        if not self._speaks_lines and self._timer is None:
            self._timer = self._loop.call_later(REQUEST_SECONDS, self.close)

    def _stop_waiting(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._is_waiting:
            self._is_waiting = False
            self._loop.remove_reader(self._socket.fileno())

    def _stop_writing(self) -> None:
        if self._is_writing:
            self._is_writing = False
            self._loop.remove_writer(self._socket.fileno())

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._stop_waiting()
            self._stop_writing()
            self._socket.close()
        self._server.remove(self)
