"""
The daemon's socket server. It accepts connections without asyncio's own server, which costs a task and several turns
of the loop for each. Data that begins with `S` is a request of `snell-hook`; everything else is lines of remote calls.
A line that asks for a bridge is the last one: after it the connection uses a protocol of its own.

The first request is answered before the event loop runs: the process that started the daemon waits, and importing
asyncio takes longer than the answer. Connections that cannot be answered at once are held until the loop runs.
"""

import _socket
import socket
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from snell.daemon.connection import REQUEST_SECONDS, Connection
from snell.daemon.listener import is_ours
from snell.daemon.request_handler import RequestHandler
from snell.daemon.wire import Request
from snell.model.protocols import Reply

if TYPE_CHECKING:
    import asyncio

    from snell.operations.rpc import Rpc

AT_ONCE = 64  # connections to accept before other work of the loop gets a turn
KEEPALIVE_SECONDS = 2.0

# Serves a connection until it ends; the arguments are the line that asked for it, the socket, and the data after it.
Bridge = Callable[[bytes, socket.socket, bytes], Coroutine[Any, Any, None]]


class SocketServer:
    """Owns the listening socket and every open connection."""

    def __init__(self, listening: socket.socket, handler: RequestHandler) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._listening = listening
        self._handler = handler
        self._rpc: Rpc | None = None
        self._bridge: Bridge | None = None
        self._on_request: Callable[[Request], None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._bridged: set[asyncio.Task[None]] = set()
        self._open: set[Connection] = set()
        self.awaiting_reply: set[Connection] = set()  # connections whose request is not answered yet
        self._still_awaiting_reply: set[Connection] = set()  # the same at the last keepalive
        self._has_keepalive_timer = False
        # From before the event loop ran.
        self._early: list[Request] = []
        self._held: list[Connection] = []
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
        for connection in self._held:
            connection.resume()
        for each in (self._early, self._unfinished, self._held):
            each.clear()
        loop.add_reader(self._listening.fileno(), self.accept)
        self._schedule_keepalives()

    @property
    def is_busy(self) -> bool:
        return bool(self._tasks or self._open or self._bridged)

    def accept(self, most: int = AT_ONCE) -> int:
        """Accept waiting connections, at most `most`; return how many there were."""
        for number in range(most):
            try:
                descriptor, _ = self._listening._accept()  # type: ignore[attr-defined] # `accept` also queries the address
            except BlockingIOError:
                return number
            except OSError:
                return number  # the caller has gone, or there are no descriptors left and it will be tried again
            connection = _socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptor)
            connection.setblocking(False)
            if is_ours(connection):
                Connection(self, connection).readable()
            else:
                connection.close()
        return most

    def _send_keepalives(self) -> None:
        """Send a keepalive to callers that wait: a hook may take minutes, and must not look like a hung daemon."""
        assert self.loop
        for connection in self.awaiting_reply & self._still_awaiting_reply:
            connection.send_keepalive()
        self._still_awaiting_reply = set(self.awaiting_reply)
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
        for task in tuple(self._bridged):
            task.cancel()
        if self._bridged:
            await asyncio.wait(self._bridged, timeout=REQUEST_SECONDS)
        await asyncio.sleep(0)  # lets the loop send the last replies
        for connection in tuple(self._open):
            connection.close()

    def add(self, connection: Connection) -> None:
        self._open.add(connection)

    def remove(self, connection: Connection) -> None:
        self._open.discard(connection)

    def await_reply(self, connection: Connection) -> None:
        """Send keepalives to this connection until its request is answered."""
        self.awaiting_reply.add(connection)
        self._schedule_keepalives()

    def hold(self, connection: Connection) -> None:
        """Keep a connection until the event loop runs."""
        self._held.append(connection)

    def request(self, request: Request, send: Callable[[Reply], None]) -> None:
        if self._on_request:
            self._on_request(request)
        else:
            self._early.append(request)
        waiting = self._handler.serve(request, send)
        if waiting:
            self._finish(waiting)

    def _finish(self, waiting: Coroutine[Any, Any, None]) -> None:
        if self.loop:
            self._watch(self.loop.create_task(waiting))
        else:
            self._unfinished.append(waiting)

    def _watch(self, task: "asyncio.Task[None]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def call(self, line: bytes, send: Callable[[bytes], None]) -> "asyncio.Task[None] | None":
        """Answer one line: now, or by the task that is returned."""
        assert self._rpc
        task = self._rpc.call(line, send)
        if task:
            self._watch(task)
        return task

    def hand_to_bridge(self, line: bytes, connection: socket.socket, rest: bytes) -> None:
        """Give a connection to the bridge, which reads it from now on."""
        if self._bridge is None or self.loop is None:
            connection.close()
            return
        task = self.loop.create_task(self._bridge(line, connection, rest))
        self._bridged.add(task)
        task.add_done_callback(self._bridged.discard)
