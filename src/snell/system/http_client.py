"""
One HTTP exchange with a vetted target: no redirects, no proxy, no cookies, and one time limit for all of it.

The HTTP itself is httpx2's own engine; what it connects to, and for how long it waits, is decided here, because its
limits are for single reads, and a server that sends a byte a second never breaks one of those.
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
    """The exchange failed; `kind` is a failure's: launch, output or crash."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Call(Struct, frozen=True):
    method: str
    target: Target
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Reading(Struct, frozen=True):
    """A response whose body is still coming."""

    status: int
    headers: Mapping[str, str]
    chunks: Callable[[], Iterator[bytes]]

    def whole(self, most: int) -> bytes:
        """The body, of at most so many bytes."""
        body = bytearray()
        for chunk in self.chunks():
            body += chunk
            if len(body) > most:
                raise HttpError("output", f"answered more than Snell reads ({most // 1024} KB)")
        return bytes(body)


@contextmanager
def send_request(call: Call, deadline: Deadline) -> Iterator[Reading]:
    """Send a request and read its response, as far as the caller wants it."""
    core = _engine()
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
            yield Reading(response.status, found, response.iter_stream)
    except ssl.SSLError as error:
        raise HttpError("launch", f"TLS with {target.authority} failed: {error.reason or error}") from None
    except OSError as error:
        raise HttpError("launch", f"cannot reach {target.authority}: {error.strerror or error}") from None
    except (core.ProtocolError, core.NetworkError) as error:
        raise HttpError("output", f"{target.authority} broke off: {error or type(error).__name__}") from None


def _header_bytes(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Values are whatever bytes; what is not ASCII goes as UTF-8, which servers of today expect."""
    return [(name.encode("ascii"), value.encode("utf-8", "replace")) for name, value in headers.items()]


def resolver(deadline: Deadline, resolve: Resolve = resolve_host) -> Resolve:
    """The system's resolver cannot be interrupted; this one is left behind when the time is up."""

    def within(host: str, port: int) -> list[str]:
        found: list[list[str] | Exception] = []

        def look() -> None:
            try:
                found.append(resolve(host, port))
            except (OSError, UnicodeError) as error:
                found.append(error)

        thread = threading.Thread(target=look, name="snell-resolve", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(deadline.slice())
        if not found or isinstance(found[0], Exception):
            raise OSError(str(found[0]) if found else "looking it up failed")
        return found[0]

    return within


def require_engine() -> None:
    """Raise HttpError when no request can be sent, before anything is looked up or read for one."""
    _engine()


def _engine() -> Any:
    try:
        import httpcore2
    except ImportError:
        raise HttpError("launch", f"{missing_message('http')}; {install_advice('http')}") from None
    return httpcore2


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


class _Backend:
    """Connects to the addresses that were looked at, whatever name it is given."""

    def __init__(self, target: Target, deadline: Deadline) -> None:
        self._target = target
        self._deadline = deadline

    def connect_tcp(self, *_: Any, **__: Any) -> DeadlineSocket:
        return connect(self._target.addresses, self._target.port, self._deadline)
