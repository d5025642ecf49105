"""One connection to the daemon's socket: a request of `snell-hook` and its reply; lines go to the server's streams."""

import _socket
import contextlib
import socket
from typing import TYPE_CHECKING

from snell.daemon.wire import KEEPALIVE, REPEATED, WITHDRAWN, Request, WireError, encode_reply
from snell.model.protocols import Reply

if TYPE_CHECKING:
    import asyncio

    from snell.daemon.socket_server import SocketServer

CHUNK = 1 << 18
FIRST = 1 << 14  # bytes: enough for most requests; a larger buffer costs an allocation
REQUEST_SECONDS = 10.0  # for a sender to finish its request


class Connection:
    """Reads from one socket without blocking, and sends the reply."""

    def __init__(self, server: "SocketServer", connection: _socket.socket, sender: int) -> None:
        self._server = server
        self._socket, self._sender = connection, sender
        self._buffer = bytearray()
        self._unsent = b""
        self._is_waiting = False
        self._is_writing = False
        self._has_replied = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def _loop(self) -> "asyncio.AbstractEventLoop":
        assert self._server.loop, "a connection that waits before the loop runs is held by the server"
        return self._server.loop

    def resume(self) -> None:
        """Continue a connection that was held until the event loop ran."""
        if self._unsent:
            self._wait_to_send()
        elif self._has_lines:
            self._hand_over()
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
        if self._has_lines:
            self._hand_over()
        elif not self._process():
            self._wait() if data else self.close()

    @property
    def _has_lines(self) -> bool:
        return bool(self._buffer) and self._buffer[0] != ord("S")

    def _hand_over(self) -> None:
        """Give the connection to the server, which answers its lines."""
        if self._server.loop is None:
            self._server.held.append(self)
            return
        self._stop_waiting()
        self._server.open.discard(self)
        self._server.serve_lines(socket.socket(fileno=self._socket.detach()), bytes(self._buffer))

    def _process(self) -> bool:
        """Handle the request if it is complete; return whether it is, or can never be."""
        try:
            needed = Request.frame_length(self._buffer)
            if needed is None or len(self._buffer) < needed:
                return False
            sign = bytes(self._buffer[needed:]) if len(self._buffer) > needed else b""
            if sign.endswith(WITHDRAWN):
                self.close()
                return True
            frame = bytes(self._buffer[:needed]) if sign else bytes(self._buffer)
            request = Request.decode(frame, self._sender, is_repeated=sign == REPEATED)
        except WireError as error:
            self._reply(Reply(stderr=f"snell: {error}\n".encode("utf-8", "replace"), exit_code=1))
            return True
        self._stop_waiting()
        self._buffer.clear()
        self._server.request(request, self._reply)
        if not self._has_replied:
            self._server.await_reply(self)
        return True

    def send_keepalive(self) -> None:
        if not self._unsent:
            with contextlib.suppress(OSError):  # a closed connection is noticed when the reply is sent
                self._socket.send(KEEPALIVE)

    def _reply(self, reply: Reply) -> bool:
        """Send the reply; return False if `snell-hook` has taken its request back, and decides without the daemon."""
        if self._has_replied:
            return True
        self._has_replied = True
        self._server.awaiting_reply.discard(self)
        return self._send(encode_reply(reply))

    def _send(self, data: bytes) -> bool:
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            is_withdrawn = self._is_withdrawn()
            self.close()
            return not is_withdrawn
        self._unsent = data[sent:]
        if self._unsent:
            self._wait_to_send()
        else:
            self.close()
        return True

    def _is_withdrawn(self) -> bool:
        try:
            return self._socket.recv(1) == WITHDRAWN
        except OSError:
            return False  # the client has ended `snell-hook`

    def _wait_to_send(self) -> None:
        if self._server.loop is None:
            self._server.held.append(self)
            return
        self._is_writing = True
        self._server.open.add(self)
        self._loop.add_writer(self._socket.fileno(), self._writable)

    def _writable(self) -> None:
        data, self._unsent = self._unsent, b""
        self._stop_writing()
        self._send(data)

    def _wait(self) -> None:
        if self._server.loop is None:
            self._server.held.append(self)
            return
        if not self._is_waiting:
            self._is_waiting = True
            self._server.open.add(self)
            self._loop.add_reader(self._socket.fileno(), self.readable)
        if self._timer is None:
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
        self._server.open.discard(self)
