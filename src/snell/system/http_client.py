"""
One HTTP exchange with a checked target: no redirects, no proxy, no cookies, and one deadline for all of it.

The HTTP library is httpx2's core. This module decides what it connects to and how long it waits, because the library's
own timeouts are for single reads, and a server that sends a byte a second never exceeds one of those.
"""

import errno
import os
import select
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from msgspec import Struct

from snell.system.address_policy import Resolve, Target, check_url, resolve_host
from snell.system.deadline import Deadline, FailedError
from snell.system.optional_packages import install_advice, missing_message

STAGGER = 0.25  # seconds that an address has for itself before the next one is tried beside it

T = TypeVar("T")


class HttpError(FailedError):
    """The exchange failed; its kind is launch, output or crash."""


class Call(Struct, frozen=True):
    method: str
    target: Target
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Response(Struct, frozen=True):
    """A response whose body is still being received."""

    status: int
    headers: Mapping[str, str]
    chunks: Callable[[], Iterator[bytes]]

    def read_all(self, most: int) -> bytes:
        """Return the body; raises HttpError if it has more than `most` bytes."""
        body = bytearray()
        for chunk in self.chunks():
            body += chunk
            if len(body) > most:
                raise HttpError("output", f"answered more than Snell reads ({most // 1024} KB)")
        return bytes(body)


@contextmanager
def send_request(call: Call, deadline: Deadline) -> Iterator[Response]:
    """Send a request and yield its response; the caller reads as much of the body as it wants."""
    core = require_http_library()
    target = call.target
    context = _tls() if target.scheme == "https" else None
    backend = _Backend(target, deadline)
    headers = {"host": target.authority, "accept-encoding": "identity", "user-agent": "snell", **call.headers}
    # What is not ASCII is sent as UTF-8, which current servers expect.
    sent = [(name.encode("ascii"), value.encode("utf-8", "replace")) for name, value in headers.items()]
    url = core.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    try:
        with (
            core.ConnectionPool(ssl_context=context, network_backend=backend, max_connections=1) as pool,
            pool.stream(call.method, url, headers=sent, content=call.body) as response,
        ):
            found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            yield Response(response.status, found, response.iter_stream)
    except ssl.SSLError as error:
        raise HttpError("launch", f"TLS with {target.authority} failed: {error.reason or error}") from None
    except OSError as error:
        raise HttpError("launch", f"cannot reach {target.authority}: {error.strerror or error}") from None
    except (core.ProtocolError, core.NetworkError) as error:
        raise HttpError("output", f"{target.authority} disconnected: {error or type(error).__name__}") from None


def resolver(deadline: Deadline, resolve: Resolve = resolve_host) -> Resolve:
    """Return a resolver that obeys the deadline; the system's cannot be interrupted, so it is left in its thread."""

    def resolve_in_time(host: str, port: int) -> list[str]:
        found: list[list[str] | Exception] = []

        def resolve_in_thread() -> None:
            try:
                found.append(resolve(host, port))
            except (OSError, UnicodeError) as error:
                found.append(error)

        thread = threading.Thread(target=resolve_in_thread, name="snell-resolve", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(deadline.slice())
        if not found or isinstance(found[0], Exception):
            raise OSError(str(found[0]) if found else "the lookup failed")
        return found[0]

    return resolve_in_time


def target_of_user(url: str, deadline: Deadline, also: Sequence[str] = ()) -> Target:
    """Return the target of an address that the user named: its host may be on the user's own network."""
    allowed = (*also, urlsplit(url).hostname or "")
    return check_url(url, loopback=True, allowed=allowed, resolve=resolver(deadline))


def require_http_library() -> Any:
    """Return the HTTP library; raises HttpError if it is missing, before anything is resolved or read for a request."""
    try:
        import httpcore2
    except ImportError:
        raise HttpError("launch", f"{missing_message('http')}; {install_advice('http')}") from None
    return httpcore2


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


class _Backend:
    """Connects to the checked addresses only, whatever name the library passes."""

    def __init__(self, target: Target, deadline: Deadline) -> None:
        self._target = target
        self._deadline = deadline

    def connect_tcp(self, *_: Any, **__: Any) -> "DeadlineSocket":
        return connect(self._target.addresses, self._target.port, self._deadline)


def connect(addresses: Sequence[str], port: int, deadline: Deadline) -> "DeadlineSocket":
    """
    Connect to the first address that accepts; no address can use up the time of the others.

    Another attempt starts when the last one has failed or has taken longer than `STAGGER`.
    """
    left, pending, next_start = list(addresses), selectors.PollSelector(), 0.0
    last_error = OSError("it has no address")
    try:
        while left or pending.get_map():
            wait = deadline.slice()
            if left and (not pending.get_map() or time.monotonic() >= next_start):
                next_start = time.monotonic() + STAGGER
                try:
                    pending.register(_start_connect(left.pop(0), port), selectors.EVENT_WRITE)
                except OSError as error:
                    last_error, next_start = error, 0.0
            for key, _ in pending.select(max(0.0, min(wait, next_start - time.monotonic())) if left else wait):
                pending.unregister(key.fileobj)
                sock = cast(socket.socket, key.fileobj)
                if not (code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)):
                    return DeadlineSocket(sock, deadline)
                sock.close()
                last_error, next_start = _error(code), 0.0
        raise last_error
    finally:
        for key in pending.get_map().values():
            cast(socket.socket, key.fileobj).close()
        pending.close()


class DeadlineSocket:
    """
    The stream that the HTTP library reads and writes; it needs no timeouts of its own.

    The TLS handshake, reading and writing end when the time is up or the wait is cancelled, whatever the peer does.
    """

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
