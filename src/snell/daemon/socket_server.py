"""
The daemon's socket server. It accepts connections without asyncio's own server, which costs a task and several turns
of the loop for each. Data that begins with `S` is a request of `snell-hook`; everything else is lines of remote calls.
A line that asks for a bridge is the last one: after it the connection uses a protocol of its own.

The first request is answered before the event loop runs: the process that started the daemon waits, and importing
asyncio takes longer than the answer. Connections that cannot be answered at once are held until the loop runs.
"""

import _socket
import contextlib
import os
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from snell.daemon.connection import REQUEST_SECONDS, Connection
from snell.daemon.request_handler import RequestHandler, Send
from snell.daemon.shim_connection import peer_of
from snell.daemon.wire import Request

if TYPE_CHECKING:
    import asyncio
    import socket

    from snell.operations.rpc import Rpc

AT_ONCE = 64  # connections to accept before other work of the loop gets a turn
KEEPALIVE_SECONDS = 0.4  # less than half of the silence after which `snell-hook` takes the daemon for hung

LONGEST_LINE = 17 * 1024 * 1024
BRIDGE = b'{"cmd":"bridge",'

# Serves a connection until it ends; the first argument is the line that asked for it.
Bridge = Callable[[bytes, "asyncio.StreamReader", "asyncio.StreamWriter"], Coroutine[Any, Any, None]]


class SocketServer:
    """Owns the listening socket and every open connection."""

    def __init__(self, listening: _socket.socket, handler: RequestHandler) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._listening, self._user = listening, os.geteuid()
        self._handler = handler
        self._rpc: Rpc | None = None
        self._bridge: Bridge | None = None
        self._on_request: Callable[[Request], None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._lines: set[asyncio.Task[None]] = set()  # connections that carry lines, or a bridge
        self.open: set[Connection] = set()  # connections that the event loop watches
        self.awaiting_reply: set[Connection] = set()  # connections whose request is not answered yet
        self._has_keepalive_timer = False
        # From before the event loop ran.
        self._early: list[Request] = []
        self.held: list[Connection] = []
        self._unfinished: list[Coroutine[Any, Any, None]] = []

    def start(
        self,
        loop: "asyncio.AbstractEventLoop",
        rpc: "Rpc",
        on_request: Callable[[Request], None],
        bridge: Bridge | None = None,
    ) -> None:
        """Serve all connections in the event loop, beginning with those that were held."""
        self.loop, self._rpc, self._on_request, self._bridge = loop, rpc, on_request, bridge
        self._handler.start(loop)
        for request in self._early:
            on_request(request)
        for waiting in self._unfinished:
            self._finish(waiting)
        for connection in self.held:
            connection.resume()
        for each in (self._early, self._unfinished, self.held):
            each.clear()
        loop.add_reader(self._listening.fileno(), self.accept)
        self._schedule_keepalives()

    @property
    def is_busy(self) -> bool:
        return bool(self._tasks or self.open or self._lines)

    def accept(self, most: int = AT_ONCE) -> int:
        """Accept waiting connections, at most `most`; return how many there were."""
        for number in range(most):
            try:
                descriptor, _ = self._listening._accept()  # type: ignore[attr-defined] # `accept` also queries the address
            except OSError:  # none waits, it has gone, or there are no descriptors left and it will be tried again
                return number
            connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, descriptor)
            connection.setblocking(False)
            sender, user = peer_of(connection)
            if user == self._user:
                Connection(self, connection, sender).readable()
            else:
                connection.close()
        return most

    def _send_keepalives(self) -> None:
        """Send a keepalive to callers that wait: a hook may take minutes, and must not look like a hung daemon."""
        assert self.loop
        for connection in self.awaiting_reply:
            connection.send_keepalive()
        self._has_keepalive_timer = False
        self._schedule_keepalives()

    def _schedule_keepalives(self) -> None:
        """Schedule the next keepalive, but only while a caller waits: an idle daemon must sleep."""
        if self.loop and self.awaiting_reply and not self._has_keepalive_timer:
            self._has_keepalive_timer = True
            self.loop.call_later(KEEPALIVE_SECONDS, self._send_keepalives)

    def stop_accepting(self) -> None:
        """Accept the connections that are already in the queue, then close it."""
        assert self.loop
        while self.accept():
            pass
        self.loop.remove_reader(self._listening.fileno())
        self._listening.close()

    async def finish(self, seconds: float) -> None:
        """Wait for the requests that are still being decided, then close all connections."""
        import asyncio

        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        await asyncio.sleep(0)  # lets the loop send the last replies
        for task in tuple(self._lines):
            task.cancel()
        if self._lines:
            await asyncio.wait(self._lines, timeout=REQUEST_SECONDS)
        for connection in tuple(self.open):
            connection.close()

    def await_reply(self, connection: Connection) -> None:
        """Send keepalives to this connection until its request is answered."""
        connection.send_keepalive()
        self.awaiting_reply.add(connection)
        self._schedule_keepalives()

    def request(self, request: Request, send: Send) -> None:
        waiting = self._handler.serve(request, send)
        if waiting:
            self._finish(waiting)
        if self._on_request:  # after the reply, where there is one already
            self._on_request(request)
        else:
            self._early.append(request)

    def _finish(self, waiting: Coroutine[Any, Any, None]) -> None:
        if self.loop:
            self._watch(self.loop.create_task(waiting), self._tasks)
        else:
            self._unfinished.append(waiting)

    def _watch(self, task: "asyncio.Task[None]", among: "set[asyncio.Task[None]]") -> None:
        among.add(task)
        task.add_done_callback(among.discard)

    def serve_lines(self, connection: "socket.socket", data: bytes) -> None:
        """Answer the lines of remote calls on a connection whose first data was received."""
        assert self.loop
        self._watch(self.loop.create_task(self._serve_lines(connection, data)), self._lines)

    async def _serve_lines(self, connection: "socket.socket", data: bytes) -> None:
        """Answer lines in order: a line waits until the one before it is answered, and its answer was read."""
        import asyncio

        assert self._rpc
        reader, writer = await _streams(connection, data)
        try:
            while line := await _next_line(reader):
                if line.startswith(BRIDGE):
                    if self._bridge:
                        await self._bridge(line, reader, writer)
                    return
                if task := self._rpc.call(line, writer.write):
                    self._watch(task, self._tasks)
                    await asyncio.shield(task)
                await writer.drain()
                await asyncio.sleep(0)  # other connections first
        except ConnectionError:
            pass  # the caller has closed, which is the normal end
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


async def _next_line(reader: "asyncio.StreamReader") -> bytes:
    """Return the next line; nothing at the end, and for a line that is too long."""
    try:
        return await reader.readline()
    except ValueError:
        return b""


async def _streams(connection: "socket.socket", data: bytes) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
    """Return a reader and a writer for the connection. INVARIANT: the data that was received is read first."""
    import asyncio

    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    reader.feed_data(data)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.create_unix_connection(lambda: protocol, sock=connection)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
