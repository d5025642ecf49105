"""
The loopback HTTP endpoint: `POST /hook/CLIENT` with a payload returns the body that the client's hook would print.

Off unless the settings enable it. One request per connection, so that no request can be smuggled behind another.
"""

import asyncio
import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from snell.daemon.http.requests import LARGEST_HEAD, RefusedRequestError, authorise, read_head, response
from snell.daemon.shim_connection import PROTOCOL
from snell.daemon.wire import Request
from snell.model.catalogue import canonical
from snell.model.protocols import Reply
from snell.system.event_name import event_name_given
from snell.system.files import FileError, is_own_file, read_capped, write_atomically
from snell.system.json_output import json_bytes
from snell.system.paths import Places, make_private
from snell.system.version import our_version

ADDRESS = "127.0.0.1"
CHUNK = 65_536
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
        self._open: set[asyncio.Task[None] | None] = set()
        self._incomplete: set[asyncio.Task[None] | None] = set()  # connections whose request has not arrived yet
        self._server: asyncio.Server | None = None

    async def bind(self, port: int) -> None:
        """Bind the port, without answering requests yet."""
        self._server = await asyncio.start_server(
            self._serve_connection, ADDRESS, port, limit=LARGEST_HEAD, start_serving=False
        )
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
        for task in filter(None, self._incomplete):
            task.cancel()

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._open.add(task)
        self._incomplete.add(task)
        try:
            if len(self._open) <= 2 * MOST_CONNECTIONS:  # a flood must not use up the descriptors that hooks need
                await self._exchange(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the sender has gone
        finally:
            self._open.discard(task)
            self._incomplete.discard(task)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one request, and send one response."""
        try:
            client, payload = await self._read_request(reader, writer)
        except RefusedRequestError as refusal:
            self.refused += 1
            await _send(reader, writer, response(refusal.status, json_bytes({"error": str(refusal)})), LINGER_SECONDS)
            return
        self._incomplete.discard(asyncio.current_task())
        decided: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        version, request_id = f"{PROTOCOL.decode()} {our_version()}", os.urandom(16).hex()
        self.serve(Request(version, request_id, "", ("--client", client, "--http"), b"", payload), decided.set_result)
        await _send(reader, writer, _response(await decided, payload), BODY_SECONDS)

    async def _read_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, bytes]:
        """Return the client that is named and the payload. Raises RefusedRequestError."""
        if len(self._open) > MOST_CONNECTIONS:
            raise RefusedRequestError(503, "too many connections")
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            wanted = authorise(read_head(head.removesuffix(b"\r\n\r\n")), self.port, self.token)
            if wanted.waits:
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            async with asyncio.timeout(BODY_SECONDS):
                payload = bytearray()
                while len(payload) < wanted.length:
                    chunk = await reader.read(CHUNK)
                    payload += chunk
                    if not chunk:
                        raise asyncio.IncompleteReadError(bytes(payload), wanted.length)
        except TimeoutError:
            raise RefusedRequestError(408, "the request took too long") from None
        except asyncio.LimitOverrunError:
            raise RefusedRequestError(431, f"the head is longer than {LARGEST_HEAD} bytes") from None
        if len(payload) > wanted.length:
            raise RefusedRequestError(400, "the body is longer than Content-Length")
        return wanted.client, bytes(payload)


def _response(reply: Reply, payload: bytes) -> bytes:
    """Return the response for a reply: a decision of exit code 0 or 2, or an error."""
    if reply.exit_code == 0:
        body = reply.stdout
    elif reply.exit_code == 2:
        body = reply.stdout or _deny_body(reply, payload)
    else:
        body = json_bytes({"error": reply.stderr.decode("utf-8", "replace").strip()})
    status = 200 if reply.exit_code in (0, 2) else 400
    return response(status, body, is_json=not body or _is_json(body), exit_code=reply.exit_code)


async def _send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes, seconds: float) -> None:
    """Send a response, and let the sender read it before the connection is closed; what it still sends is ignored."""
    with contextlib.suppress(TimeoutError, OSError):
        async with asyncio.timeout(seconds):
            writer.write(data)
            writer.write_eof()
            while await reader.read(CHUNK):
                pass
            writer.close()
            await writer.wait_closed()


def token_file(where: Places) -> Path:
    return where.state / "http-token"


def token_in(path: Path) -> str:
    """Return the token in the file; write a new one if the file is missing or readable by other users."""
    try:
        is_private = is_own_file(path) and not os.lstat(path).st_mode & 0o077
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
    if canonical(event_name_given(payload)) == "PreToolUse":
        own = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        fields["hookSpecificOutput"] = {"hookEventName": "PreToolUse", **own}
    return json_bytes(fields)


def _is_json(body: bytes) -> bool:
    try:
        msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
