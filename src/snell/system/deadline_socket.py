"""
A connection that waits only as long as somebody has patience: connecting, the TLS handshake, reading and writing all
end when the time is up or the wait is cancelled, whatever the other side does.
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
    """A connection to the first address that takes one; none of them can use up the time of the others."""
    attempts = _Attempts(addresses, port)
    try:
        while True:
            sock = attempts.look(deadline.slice())
            if sock:
                return DeadlineSocket(sock, deadline)
    finally:
        attempts.close()


class DeadlineSocket:
    """What the HTTP engine reads and writes; the time limits that it names are not needed."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._done(partial(self._sock.recv, max_bytes), select.POLLIN)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        while rest:
            rest = rest[self._done(partial(self._sock.send, rest), select.POLLOUT) :]

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "DeadlineSocket":
        """The same connection, encrypted; closed when that fails."""
        secure: ssl.SSLSocket | None = None
        try:
            secure = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname, do_handshake_on_connect=False)
            made = DeadlineSocket(secure, self._deadline)
            made._done(secure.do_handshake, select.POLLIN)
        except BaseException:
            (secure or self._sock).close()
            raise
        return made

    def close(self) -> None:
        self._sock.close()

    def get_extra_info(self, info: str) -> Any:
        return None

    def _done(self, step: Callable[[], T], waits_for: int) -> T:
        """The result of something that says when it would have to wait. TLS may have to read in order to write."""
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
    """Connections under way: one more whenever the last has failed, or has kept us waiting for a moment."""

    def __init__(self, addresses: Sequence[str], port: int) -> None:
        self._left = list(addresses)
        self._port = port
        self._begun: dict[int, socket.socket] = {}
        self._ready = select.poll()
        self._next = 0.0  # when the next address has its turn
        self._trouble = OSError("it has no address")

    def look(self, seconds: float) -> socket.socket | None:
        """One that is connected by now; raises when every address has failed."""
        if self._left and (not self._begun or time.monotonic() >= self._next):
            self._begin(self._left.pop(0))
        if not self._begun and not self._left:
            raise self._trouble
        return next(self._finished(seconds), None)

    def close(self) -> None:
        for sock in self._begun.values():
            sock.close()

    def _begin(self, address: str) -> None:
        self._next = time.monotonic() + STAGGER
        try:
            sock = _begun(address, self._port)
        except OSError as error:
            self._failed(error)
        else:
            self._begun[sock.fileno()] = sock
            self._ready.register(sock, select.POLLOUT)

    def _finished(self, seconds: float) -> Iterator[socket.socket]:
        wait = max(0.0, min(seconds, self._next - time.monotonic())) if self._left else seconds
        for number, _ in self._ready.poll(wait * 1000) if self._begun else ():
            sock = self._begun.pop(number)
            self._ready.unregister(sock)
            if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                sock.close()
                self._failed(_error(code))
            else:
                yield sock

    def _failed(self, error: OSError) -> None:
        self._trouble, self._next = error, 0.0


def _begun(address: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        code = sock.connect_ex((address, port))
        if code not in _UNDER_WAY:  # where there is no way at all, nothing else tells it later
            raise _error(code)
    except BaseException:
        sock.close()
        raise
    return sock


_UNDER_WAY = (0, errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EINTR)


def _error(code: int) -> OSError:
    return OSError(code, os.strerror(code).lower())
