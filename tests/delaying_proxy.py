"""A way to a server that takes its time: every byte arrives some milliseconds later, in both directions."""

import queue
import socket
import threading
import time
from contextlib import suppress

BLOCK = 65_536


class DelayingProxy:
    """TCP on loopback in front of a Unix socket, as a context."""

    def __init__(self, path: str, seconds: float) -> None:
        self._path, self._seconds = path, seconds
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> "DelayingProxy":
        self._begin(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(20)
        for end in (self._listener, *self._ends):
            end.close()

    def _begin(self, work, *given: object) -> None:
        self._threads.append(threading.Thread(target=work, args=given, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                there = socket.socket(socket.AF_UNIX)
                self._ends += [here, there]
                there.connect(self._path)
                for one, other in ((here, there), (there, here)):
                    waiting: queue.Queue[tuple[float, bytes]] = queue.Queue()
                    self._begin(self._read, one, waiting)
                    self._begin(self._write, other, waiting)

    def _read(self, end: socket.socket, waiting: "queue.Queue[tuple[float, bytes]]") -> None:
        block = b"first"
        while block:
            try:
                block = end.recv(BLOCK)
            except OSError:
                block = b""
            waiting.put((time.monotonic() + self._seconds, block))

    def _write(self, end: socket.socket, waiting: "queue.Queue[tuple[float, bytes]]") -> None:
        with suppress(OSError):
            while True:
                due, block = waiting.get()
                time.sleep(max(0.0, due - time.monotonic()))
                if not block:
                    end.shutdown(socket.SHUT_RDWR)
                    return
                end.sendall(block)
