"""
Serve connections of `snell-hook --bridge NAME`, which carry the stdin and stdout of a client program.

There is one such protocol, MCP. Its library is large, so it is imported in a thread when the first client connects.
"""

import asyncio
import contextlib
import gc
import os
import socket
from types import ModuleType

import msgspec

from snell.runtime.app import Runtime
from snell.system.json_output import json_bytes
from snell.system.optional_packages import install_advice, missing_message

LONGEST_LINE = 17 * 1024 * 1024


class _HelloArguments(msgspec.Struct):
    name: str = ""
    cwd: str = ""  # as hex digits


class _Hello(msgspec.Struct):
    args: _HelloArguments


class StdioBridges:
    """Serves the connections of all bridges."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._loading = asyncio.Lock()
        self._is_loaded = False

    async def serve(self, line: bytes, connection: socket.socket, rest: bytes) -> None:
        """Serve one connection until one of its ends closes."""
        reader, writer = await _streams(connection, rest)
        try:
            name, cwd = _parse_hello(line)
            if name != "mcp":
                await _write(writer, {"ok": False, "error": "UNKNOWN_BRIDGE", "message": f"unknown bridge `{name}`"})
            elif module := await self._mcp():
                await module.serve(self._runtime, cwd, reader, writer)
            else:
                await _refuse(reader, writer)
        except ConnectionError:
            pass  # the client has closed, which is the normal end
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _mcp(self) -> ModuleType | None:
        """Return the module of the MCP server; None if the library is not installed."""
        async with self._loading:
            try:
                module = await asyncio.to_thread(_import_server)
            except ImportError:
                return None
            if not self._is_loaded:
                self._is_loaded = True
                gc.freeze()  # its modules stay loaded, so no collection needs to traverse them
            return module


def _import_server() -> ModuleType:
    import mcp.server.lowlevel  # noqa: F401 - first, so that an ImportError is about this library

    from snell.operations.mcp import session

    return session


def _parse_hello(line: bytes) -> tuple[str, str]:
    try:
        given = msgspec.json.decode(line, type=_Hello).args
        return given.name[:80], os.fsdecode(bytes.fromhex(given.cwd))
    except (msgspec.MsgspecError, ValueError):
        return "", ""


async def _streams(connection: socket.socket, rest: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """
    Return a reader and a writer for the connection.

    INVARIANT: data that arrived with the first line is read before later data.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    if rest:
        reader.feed_data(rest)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.create_unix_connection(lambda: protocol, sock=connection)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the client's first request with an MCP error, so that it can show why there is no server."""
    with contextlib.suppress(ValueError, msgspec.MsgspecError):
        request = msgspec.json.decode(await reader.readline())
        number = request.get("id") if isinstance(request, dict) else None
        await _write(
            writer,
            {
                "jsonrpc": "2.0",
                "id": number,
                "error": {"code": -32603, "message": f"{missing_message('mcp')}; {install_advice('mcp')}"},
            },
        )


async def _write(writer: asyncio.StreamWriter, message: object) -> None:
    writer.write(json_bytes(message) + b"\n")
    await writer.drain()
