"""
One HTTP exchange with a checked target: no redirects, no proxy, no cookies, and one deadline for all of it.

The HTTP library is httpx2's core. This module decides what it connects to and how long it waits, because the library's
own timeouts are for single reads, and a server that sends a byte a second never exceeds one of those.
"""

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from msgspec import Struct

from snell.system.address_policy import Resolve, Target, resolve_host
from snell.system.deadline import Deadline
from snell.system.deadline_socket import DeadlineSocket, connect
from snell.system.optional_packages import install_advice, missing_message

CHUNK = 65_536


class HttpError(Exception):
    """The exchange failed; `kind` is the failure kind: launch, output or crash."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


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
    core = _http_library()
    target = call.target
    context = _tls() if target.scheme == "https" else None
    backend = _Backend(target, deadline)
    headers = {"host": target.authority, "accept-encoding": "identity", "user-agent": "snell", **call.headers}
    url = core.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
    try:
        with (
            core.ConnectionPool(ssl_context=context, network_backend=backend, max_connections=1) as pool,
            pool.stream(call.method, url, headers=_header_bytes(headers), content=call.body) as response,
        ):
            found = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            yield Response(response.status, found, response.iter_stream)
    except ssl.SSLError as error:
        raise HttpError("launch", f"TLS with {target.authority} failed: {error.reason or error}") from None
    except OSError as error:
        raise HttpError("launch", f"cannot reach {target.authority}: {error.strerror or error}") from None
    except (core.ProtocolError, core.NetworkError) as error:
        raise HttpError("output", f"{target.authority} disconnected: {error or type(error).__name__}") from None


def _header_bytes(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Encode header values; what is not ASCII is sent as UTF-8, which current servers expect."""
    return [(name.encode("ascii"), value.encode("utf-8", "replace")) for name, value in headers.items()]


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


def require_http_library() -> None:
    """Raise HttpError when the HTTP library is missing, before anything is resolved or read for a request."""
    _http_library()


def _http_library() -> Any:
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

    def connect_tcp(self, *_: Any, **__: Any) -> DeadlineSocket:
        return connect(self._target.addresses, self._target.port, self._deadline)
