"""
The loopback HTTP endpoint: `POST /hook/CLIENT` with a payload returns the body that the client's hook would print.

Off unless the settings enable it. One request per connection, so that no request can be smuggled behind another.
"""

import asyncio
import contextlib
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import cast

import msgspec

from snell.daemon.http_requests import LARGEST_HEAD, HttpRequest, RefusedRequestError, authorise, read_head, response
from snell.daemon.wire import PROTOCOL, Request
from snell.model.protocols import Reply
from snell.runtime.hook_request import event_name_in
from snell.system.files import FileError, read_capped, write_atomically
from snell.system.json_output import json_bytes
from snell.system.paths import Places, make_private
from snell.system.version import our_version

ADDRESS = "127.0.0.1"
MOST_CONNECTIONS = 64
HEAD_SECONDS = 3.0
BODY_SECONDS = 10.0
LINGER_SECONDS = 1.0  # for a sender to read the refusal before the connection is closed

Serve = Callable[[Request, Callable[[Reply], None]], None]


class HttpServer:
    """Owns the port and every open connection to it."""

    serve: Serve

    def __init__(self, token_file: Path) -> None:
        self.token_file = token_file
        self.token = token_in(token_file)
        self.port = 0
        self.refused = 0
        self.open: set[Exchange] = set()
        self._server: asyncio.Server | None = None

    async def bind(self, port: int) -> None:
        """Bind the port, without answering requests yet."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Exchange(self), ADDRESS, port, start_serving=False)
        self.port = self._server.sockets[0].getsockname()[1]

    async def start(self, serve: Serve) -> None:
        """Answer requests with `serve`."""
        self.serve = serve
        if self._server:
            await self._server.start_serving()

    @property
    def address(self) -> str:
        return f"http://{ADDRESS}:{self.port}"

    def stop(self) -> None:
        """Accept no more connections; requests that are being decided are still answered."""
        if self._server:
            self._server.close()
        for exchange in tuple(self.open):
            exchange.abort_if_idle()


class Exchange(asyncio.Protocol):
    """One connection: one request, one response."""

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray()
        self._wanted: HttpRequest | None = None
        self._is_served = self._is_answered = False
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._server.open.add(self)
        self._set_timeout(HEAD_SECONDS)
        if len(self._server.open) > 2 * MOST_CONNECTIONS:
            self._transport.abort()  # a flood must not use up the descriptors that hooks need
        elif len(self._server.open) > MOST_CONNECTIONS:
            self._refuse(RefusedRequestError(503, "too many connections"))

    def connection_lost(self, _error: Exception | None) -> None:
        self._server.open.discard(self)
        self._is_answered = True
        if self._timer:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        if self._is_answered:
            return  # data after the response is ignored
        self._buffer += data
        try:
            self._process()
        except RefusedRequestError as refusal:
            self._refuse(refusal)

    def eof_received(self) -> bool:
        """Keep the connection open for a sender that has closed its end after a complete request."""
        return self._is_served and not self._is_answered

    def abort_if_idle(self) -> None:
        """Close the connection if its request is not complete."""
        if not self._is_served:
            self._transport.abort()

    def _process(self) -> None:
        if self._wanted is None:
            end = self._buffer.find(b"\r\n\r\n", 0, LARGEST_HEAD)
            if end < 0:
                if len(self._buffer) >= LARGEST_HEAD:
                    raise RefusedRequestError(431, f"the head is longer than {LARGEST_HEAD} bytes")
                return
            head = bytes(self._buffer[:end])
            del self._buffer[: end + 4]
            self._wanted = authorise(read_head(head), self._server.port, self._server.token)
            self._set_timeout(BODY_SECONDS)
            if self._wanted.waits and not self._buffer:
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if len(self._buffer) > self._wanted.length:
            raise RefusedRequestError(400, "the body is longer than Content-Length")
        if len(self._buffer) == self._wanted.length and not self._is_served:
            self._serve(self._wanted)

    def _serve(self, wanted: HttpRequest) -> None:
        self._is_served = True
        if self._timer:
            self._timer.cancel()  # from here on the hooks' own time limits apply
        body = bytes(self._buffer)
        words = ("--client", wanted.client)
        request = Request(f"{PROTOCOL} {our_version()}", os.urandom(16).hex(), "", words, b"", body)
        self._server.serve(request, lambda reply: self._reply(reply, body))

    def _reply(self, reply: Reply, payload: bytes) -> None:
        if self._is_answered:
            return
        if reply.exit_code == 0:
            body = reply.stdout
        elif reply.exit_code == 2:
            body = reply.stdout or _deny_body(reply, payload)
        else:
            body = json_bytes({"error": reply.stderr.decode("utf-8", "replace").strip()})
        status = 200 if reply.exit_code in (0, 2) else 400
        self._send(response(status, body, is_json=not body or _is_json(body), exit_code=reply.exit_code), BODY_SECONDS)

    def _refuse(self, refusal: RefusedRequestError) -> None:
        self._server.refused += 1
        self._send(response(refusal.status, json_bytes({"error": str(refusal)})), LINGER_SECONDS)

    def _send(self, data: bytes, seconds: float) -> None:
        self._is_answered = True
        self._buffer.clear()
        self._transport.write(data)
        with contextlib.suppress(OSError, RuntimeError):
            self._transport.write_eof()
        self._set_timeout(seconds)

    def _set_timeout(self, seconds: float) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._on_timeout)

    def _on_timeout(self) -> None:
        if self._is_answered:
            self._transport.abort()
        else:
            self._refuse(RefusedRequestError(408, "the request took too long"))


def token_file(where: Places) -> Path:
    return where.state / "http-token"


def token_in(path: Path) -> str:
    """Return the token in the file; write a new one if the file is missing or readable by other users."""
    try:
        found = os.lstat(path)
        is_private = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
        text = read_capped(path, 1_000, follow_links=False).decode("ascii", "replace").strip()
    except (OSError, FileError):
        is_private, text = False, ""
    if is_private and _IS_TOKEN(text):
        return text
    make_private(path.parent)
    token = os.urandom(32).hex()
    write_atomically(path, f"{token}\n".encode("ascii"))
    return token


_IS_TOKEN = re.compile(r"[0-9a-f]{64}").fullmatch


def _deny_body(reply: Reply, payload: bytes) -> bytes:
    """Return a deny as a body: a process denies with its exit code, but no HTTP status does."""
    reason = reply.stderr.decode("utf-8", "replace").strip()
    fields: dict[str, object] = {"decision": "block", "reason": reason}
    if event_name_in(payload) == "PreToolUse":
        own = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        fields["hookSpecificOutput"] = {"hookEventName": "PreToolUse", **own}
    return json_bytes(fields)


def _is_json(body: bytes) -> bool:
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
