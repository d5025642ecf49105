"""Servers on loopback that take a connection and then keep the other side waiting."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

HANG_SECONDS = 60.0  # seconds after which something hangs


class Stalling:
    """Takes one connection, tells it, and neither reads nor says anything until it is asked to look."""

    def __init__(self, taken: Callable[[], None]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._taken = taken
        self._connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        connection, _ = self._listener.accept()
        connection.settimeout(HANG_SECONDS)
        connection.recv(1)  # so that the other side is in the middle of what it sends
        self._connections.append(connection)
        self._taken()

    def is_left(self) -> bool:
        """Has the other side closed its end? Waits until it has."""
        self._thread.join(HANG_SECONDS)
        (connection,) = self._connections
        try:
            while connection.recv(1_000_000):
                pass
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        for each in (self._listener, *self._connections):
            each.close()


@contextmanager
def stalling(taken: Callable[[], None] = lambda: None) -> Iterator[Stalling]:
    server = Stalling(taken)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def black_hole(address: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """A port of this address that neither refuses nor accepts a connection: its queue is full."""
    with socket.create_server((address, port), backlog=0) as listener:
        port = listener.getsockname()[1]
        waiting = []
        try:
            while len(waiting) < 16:
                each = socket.socket()
                waiting.append(each)
                each.settimeout(0.3)
                each.connect((address, port))
        except TimeoutError:
            pass
        try:
            yield port
        finally:
            for each in waiting:
                each.close()
