"""
The daemon's front: accepts connections on its own, because asyncio's way costs a task and several turns of the loop
for each. What begins with `S` is a request of `snell-hook`; everything else is lines of remote calls. A line that asks
for a bridge is the last one: from then on the connection speaks a protocol of its own.

Whoever started the daemon waits for it to load, so the first request is answered before there is a loop: asyncio takes
longer to import than that request takes to answer. What cannot be answered at once is held until the loop is there.
"""

import _socket
import contextlib
import socket
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from snell.daemon.listener import is_ours, sender_of
from snell.daemon.request_handler import RequestHandler
from snell.daemon.wire import SIGN, Request, WireError
from snell.daemon.wire import Reply as Frame
from snell.model.protocols import Reply

if TYPE_CHECKING:
    import asyncio

    from snell.operations.rpc import Rpc

AT_ONCE = 64  # connections that are taken before anything else gets its turn
CHUNK = 1 << 18
FIRST = 1 << 14  # bytes in which most requests fit; room for more would be taken from the system and given back
LIFE_SIGNS = 2.0  # seconds between them
PATIENCE = 10.0  # seconds for a sender to finish its request
LONGEST_LINE = 17 * 1024 * 1024
LINES_AT_ONCE = 64  # of one caller, before anybody else gets a turn
MOST_UNSENT = 65_536  # bytes that a caller may leave unread before its next lines are left alone
BRIDGE = b'{"cmd":"bridge",'

# Serves a connection until it ends: the line that asked for it, the socket, and what came after the line.
Bridge = Callable[[bytes, socket.socket, bytes], Coroutine[Any, Any, None]]


class SocketServer:
    """Owns the listening socket and every open connection."""

    def __init__(self, listening: socket.socket, service: RequestHandler) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._listening = listening
        self._service = service
        self._rpc: Rpc | None = None
        self._bridge: Bridge | None = None
        self._on_request: Callable[[Request], None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._bridged: set[asyncio.Task[None]] = set()
        self._open: set[Connection] = set()
        self.at_work: set[Connection] = set()  # who waits for an answer
        self._still_at_work: set[Connection] = set()  # who did when signs of life were last due
        self._shows_life = False
        # From before there was a loop.
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
        """Serve everybody from now on, first those who came before."""
        self.loop, self._rpc, self._on_request, self._bridge = loop, rpc, on_request, bridge
        self._service.start(loop)
        for request in self._early:
            on_request(request)
        for waiting in self._unfinished:
            self._finish(waiting)
        for connection in self._held:
            connection.resume()
        for each in (self._early, self._unfinished, self._held):
            each.clear()
        loop.add_reader(self._listening.fileno(), self.accept)
        self._show_life_later()

    @property
    def is_busy(self) -> bool:
        return bool(self._tasks or self._open or self._bridged)

    def accept(self, most: int = AT_ONCE) -> int:
        """Take what is in the queue, at most a few at a time; returns how many there were."""
        for number in range(most):
            try:
                descriptor, _ = self._listening._accept()  # type: ignore[attr-defined] # `accept` asks what we know
            except BlockingIOError:
                return number
            except OSError:
                return number  # the other end is gone already, or descriptors are short: those come again
            connection = _socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptor)
            connection.setblocking(False)
            if is_ours(connection):
                Connection(self, connection).readable()
            else:
                connection.close()
        return most

    def _show_life(self) -> None:
        """A hook may take minutes. Whoever waits for it must be able to tell that from a daemon that hangs."""
        assert self.loop
        for connection in self.at_work & self._still_at_work:
            connection.show_life()
        self._still_at_work = set(self.at_work)
        self._shows_life = False
        self._show_life_later()

    def _show_life_later(self) -> None:
        """Only while a caller waits, so that an idle daemon sleeps."""
        if self.loop and self.at_work and not self._shows_life:
            self._shows_life = True
            self.loop.call_later(LIFE_SIGNS, self._show_life)

    def stop_accepting(self) -> None:
        """Take everybody who is already in the queue, then close it."""
        assert self.loop
        while self.accept():
            pass
        self.loop.remove_reader(self._listening.fileno())
        self._listening.close()

    async def finish(self, seconds: float) -> None:
        """Wait for the calls that are still being decided, then let everybody go."""
        import asyncio

        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in tuple(self._bridged):
            task.cancel()
        if self._bridged:
            await asyncio.wait(self._bridged, timeout=PATIENCE)
        await asyncio.sleep(0)  # replies that were just sent
        for connection in tuple(self._open):
            connection.close()

    def opened(self, connection: "Connection") -> None:
        self._open.add(connection)

    def closed(self, connection: "Connection") -> None:
        self._open.discard(connection)

    def wait_for_answer(self, connection: "Connection") -> None:
        """The answer takes a while; show the caller until then that the daemon is alive."""
        self.at_work.add(connection)
        self._show_life_later()

    def hold(self, connection: "Connection") -> None:
        """This one has to wait until there is a loop."""
        self._held.append(connection)

    def request(self, request: Request, send: Callable[[Reply], None]) -> None:
        if self._on_request:
            self._on_request(request)
        else:
            self._early.append(request)
        waiting = self._service.serve(request, send)
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
        """This connection is no longer ours to read."""
        if self._bridge is None or self.loop is None:
            connection.close()
            return
        task = self.loop.create_task(self._bridge(line, connection, rest))
        self._bridged.add(task)
        task.add_done_callback(self._bridged.discard)


class Connection:
    """One connection: a request and its reply, or lines of remote calls."""

    def __init__(self, front: SocketServer, connection: _socket.socket) -> None:
        self._front = front
        self._socket = connection
        self._buffer = bytearray()
        self._unsent = b""
        self._is_waiting = False
        self._is_writing = False
        self._closes = False
        self._has_replied = False
        self._speaks_lines = False
        self._is_at_end = False  # they send no more lines
        self._answering: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def _loop(self) -> "asyncio.AbstractEventLoop":
        assert self._front.loop, "who waits before there is a loop is held"
        return self._front.loop

    def resume(self) -> None:
        """There is a loop now."""
        if self._unsent:
            self._wait_to_send()
        elif self._speaks_lines:
            self._go_on()
        else:
            self._wait()

    def readable(self) -> None:
        """Read what has come. The shim has usually sent everything by the time we accept."""
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
            self._buffer += b"\n"  # the last line of a text often has none
        if not self._take(at_end=not data) and data:
            self._wait()
        elif not data and not self._closes:
            self._is_at_end = True
            self._stop_waiting()
            self._close_when_done()

    def _take(self, *, at_end: bool) -> bool:
        """Hand on what is complete; True when nothing more is expected."""
        if self._speaks_lines or (self._buffer and self._buffer[0] != ord("S")):
            return self._take_lines()
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
        self._front.request(request, self._reply)
        if not self._has_replied:
            self._front.wait_for_answer(self)
        return True

    def _take_lines(self) -> bool:
        """In their order: a line waits until the one before it is answered."""
        self._speaks_lines = True
        if self._front.loop is None:
            return False
        for _ in range(LINES_AT_ONCE):
            if self._answering or len(self._unsent) > MOST_UNSENT or (end := self._buffer.find(b"\n")) < 0:
                break
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            if line.startswith(BRIDGE):
                self._hand_over(line)
                return True
            self._answering = self._front.call(line, self._send)
            if self._answering:
                self._answering.add_done_callback(self._answered)
        else:
            self._loop.call_soon(self._go_on)  # others first
        if len(self._buffer) > LONGEST_LINE:
            self.close()
            return True
        return False

    def _hand_over(self, line: bytes) -> None:
        self._stop_waiting()
        rest = bytes(self._buffer)
        self._buffer.clear()
        connection = socket.socket(fileno=self._socket.detach())
        self._front.closed(self)
        self._front.hand_to_bridge(line, connection, rest)

    def _answered(self, _task: "asyncio.Task[None]") -> None:
        self._answering = None
        self._go_on()

    def _go_on(self) -> None:
        """Take the lines that had to wait."""
        if self._socket.fileno() < 0:
            return
        self._take_lines()
        if self._is_at_end:
            self._close_when_done()
        elif self._socket.fileno() >= 0:
            self._wait()

    def _close_when_done(self) -> None:
        has_lines = self._speaks_lines and b"\n" in self._buffer
        if self._is_at_end and not self._unsent and not self._answering and not has_lines:
            self.close()

    def show_life(self) -> None:
        if not self._unsent:
            with contextlib.suppress(OSError):  # who has gone is noticed when the answer is sent
                self._socket.send(SIGN)

    def _reply(self, reply: Reply) -> None:
        self._closes = self._has_replied = True
        self._front.at_work.discard(self)
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
        if self._front.loop is None:
            self._front.hold(self)
            return
        self._is_writing = True
        self._front.opened(self)
        self._loop.add_writer(self._socket.fileno(), self._writable)

    def _writable(self) -> None:
        data, self._unsent = self._unsent, b""
        self._stop_writing()
        self._send(data)
        if self._speaks_lines:
            self._go_on()

    def _wait(self) -> None:
        if self._front.loop is None:
            self._front.hold(self)
            return
        if len(self._unsent) > MOST_UNSENT:
            self._stop_waiting()  # who does not read is not read from
            return
        if not self._is_waiting:
            self._is_waiting = True
            self._front.opened(self)
            self._loop.add_reader(self._socket.fileno(), self.readable)
        if not self._speaks_lines and self._timer is None:
            self._timer = self._loop.call_later(PATIENCE, self.close)

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
        self._front.closed(self)
