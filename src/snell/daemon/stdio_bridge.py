"""
Connections that `snell-hook --bridge NAME` opens: a program's stdin and stdout, joined to a protocol we speak.

There is one such protocol, MCP. Its library is large, so it is loaded in a thread when the first client comes, and
never for anybody else.
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


class _Given(msgspec.Struct):
    name: str = ""
    cwd: str = ""  # two digits for each byte


class _Hello(msgspec.Struct):
    args: _Given


class StdioBridges:
    """Everybody who came over the bridge."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._loading = asyncio.Lock()
        self._is_loaded = False

    async def serve(self, line: bytes, connection: socket.socket, rest: bytes) -> None:
        """Until one of the two ends closes."""
        reader, writer = await _streams(connection, rest)
        try:
            name, cwd = _asked(line)
            if name != "mcp":
                await _say(writer, {"ok": False, "error": "UNKNOWN_BRIDGE", "message": f"there is no bridge `{name}`"})
            elif module := await self._mcp():
                await module.serve(self._runtime, cwd, reader, writer)
            else:
                await _refuse(reader, writer)
        except ConnectionError:
            pass  # they are gone, which is how it ends
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _mcp(self) -> ModuleType | None:
        """The server; None when the library is not there."""
        async with self._loading:
            try:
                module = await asyncio.to_thread(_imported)
            except ImportError:
                return None
            if not self._is_loaded:
                self._is_loaded = True
                gc.freeze()  # what came with it stays, and need not be looked at again
            return module


def _imported() -> ModuleType:
    import mcp.server.lowlevel  # noqa: F401 - so that it is this one that is missing, if one is

    from snell.operations.mcp import session

    return session


def _asked(line: bytes) -> tuple[str, str]:
    try:
        given = msgspec.json.decode(line, type=_Hello).args
        return given.name[:80], os.fsdecode(bytes.fromhex(given.cwd))
    except (msgspec.MsgspecError, ValueError):
        return "", ""


async def _streams(connection: socket.socket, rest: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """INVARIANT: what came with the first line is read before anything that comes now."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    if rest:
        reader.feed_data(rest)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.create_unix_connection(lambda: protocol, sock=connection)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the client's first request in its own protocol, so that it can show why there is no server."""
    with contextlib.suppress(ValueError, msgspec.MsgspecError):
        request = msgspec.json.decode(await reader.readline())
        number = request.get("id") if isinstance(request, dict) else None
        await _say(
            writer,
            {
                "jsonrpc": "2.0",
                "id": number,
                "error": {"code": -32603, "message": f"{missing_message('mcp')}; {install_advice('mcp')}"},
            },
        )


async def _say(writer: asyncio.StreamWriter, message: object) -> None:
    writer.write(json_bytes(message) + b"\n")
    await writer.drain()
