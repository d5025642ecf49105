"""
A connection with a deadline: connecting, the TLS handshake, reading and writing all end when the time is up or the
wait is cancelled, whatever the peer does.
"""

import errno
import os
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from snell.system.deadline import Deadline

STAGGER = 0.25  # seconds that an address has for itself before the next one is tried beside it

T = TypeVar("T")


def connect(addresses: Sequence[str], port: int, deadline: Deadline) -> "DeadlineSocket":
    """Connect to the first address that accepts; no address can use up the time of the others."""
    attempts = _Attempts(addresses, port)
    try:
        while True:
            sock = attempts.poll(deadline.slice())
            if sock:
                return DeadlineSocket(sock, deadline)
    finally:
        attempts.close()


class DeadlineSocket:
    """The stream that the HTTP library reads and writes; it needs no timeouts of its own."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._retry(partial(self._sock.recv, max_bytes), select.POLLIN)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        unsent = memoryview(buffer)
        while unsent:
            unsent = unsent[self._retry(partial(self._sock.send, unsent), select.POLLOUT) :]

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "DeadlineSocket":
        """Return the same connection with TLS; it is closed when the handshake fails."""
        secure: ssl.SSLSocket | None = None
        try:
            secure = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname, do_handshake_on_connect=False)
            encrypted = DeadlineSocket(secure, self._deadline)
            encrypted._retry(secure.do_handshake, select.POLLIN)
        except BaseException:
            (secure or self._sock).close()
            raise
        return encrypted

    def close(self) -> None:
        self._sock.close()

    def get_extra_info(self, info: str) -> Any:
        return None

    def _retry(self, step: Callable[[], T], waits_for: int) -> T:
        """Repeat `step` until it does not block. TLS may have to read in order to write."""
        while True:
            self._deadline.remaining()
            try:
                return step()
            except ssl.SSLWantReadError:
                self._wait(select.POLLIN)
            except ssl.SSLWantWriteError:
                self._wait(select.POLLOUT)
            except BlockingIOError:
                self._wait(waits_for)

    def _wait(self, for_: int) -> None:
        ready = select.poll()
        ready.register(self._sock, for_)
        while not ready.poll(self._deadline.slice() * 1000):
            self._deadline.remaining()


class _Attempts:
    """Connections in progress: another one starts when the last has failed or has taken longer than `STAGGER`."""

    def __init__(self, addresses: Sequence[str], port: int) -> None:
        self._left = list(addresses)
        self._port = port
        self._pending: dict[int, socket.socket] = {}
        self._ready = select.poll()
        self._next = 0.0  # when the next address is tried
        self._last_error = OSError("it has no address")

    def poll(self, seconds: float) -> socket.socket | None:
        """Return a socket that is connected by now; raises when every address has failed."""
        if self._left and (not self._pending or time.monotonic() >= self._next):
            self._start(self._left.pop(0))
        if not self._pending and not self._left:
            raise self._last_error
        return next(self._connected_sockets(seconds), None)

    def close(self) -> None:
        for sock in self._pending.values():
            sock.close()

    def _start(self, address: str) -> None:
        self._next = time.monotonic() + STAGGER
        try:
            sock = _start_connect(address, self._port)
        except OSError as error:
            self._note_failure(error)
        else:
            self._pending[sock.fileno()] = sock
            self._ready.register(sock, select.POLLOUT)

    def _connected_sockets(self, seconds: float) -> Iterator[socket.socket]:
        wait = max(0.0, min(seconds, self._next - time.monotonic())) if self._left else seconds
        for number, _ in self._ready.poll(wait * 1000) if self._pending else ():
            sock = self._pending.pop(number)
            self._ready.unregister(sock)
            if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                sock.close()
                self._note_failure(_error(code))
            else:
                yield sock

    def _note_failure(self, error: OSError) -> None:
        self._last_error, self._next = error, 0.0


def _start_connect(address: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        code = sock.connect_ex((address, port))
        if code not in _IN_PROGRESS:  # an unreachable network is reported here only
            raise _error(code)
    except BaseException:
        sock.close()
        raise
    return sock


_IN_PROGRESS = (0, errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EINTR)


def _error(code: int) -> OSError:
    return OSError(code, os.strerror(code).lower())
