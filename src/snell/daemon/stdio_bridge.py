"""
Serve connections of `snell-hook --bridge NAME`, which carry the stdin and stdout of a client program.

There is one such protocol, MCP. Its library is large, so it is imported in a thread when the first client connects.
"""

import asyncio
import contextlib
import gc
import os
from types import ModuleType

import msgspec

from snell.runtime.app import Runtime
from snell.system.json_output import json_bytes
from snell.system.optional_packages import install_advice, missing_message


class StdioBridges:
    """Serves the connections of all bridges."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._loading = asyncio.Lock()
        self._is_loaded = False

    async def serve(self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until one of its ends closes."""
        name, cwd = _parse_hello(line)
        if name != "mcp":
            await _write(writer, {"ok": False, "error": "UNKNOWN_BRIDGE", "message": f"unknown bridge `{name}`"})
        elif module := await self._mcp():
            await module.serve(self._runtime, cwd, reader, writer)
        else:
            await _refuse(reader, writer)

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
        given = msgspec.json.decode(line)["args"]
        return given["name"][:80], os.fsdecode(bytes.fromhex(given["cwd"]))
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError):
        return "", ""


async def _refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the client's first request with an MCP error, so that it can show why there is no server."""
    with contextlib.suppress(ValueError, msgspec.MsgspecError):
        request = msgspec.json.decode(await reader.readline())
        number = request.get("id") if isinstance(request, dict) else None
        error = {"code": -32603, "message": f"{missing_message('mcp')}; {install_advice('mcp')}"}
        await _write(writer, {"jsonrpc": "2.0", "id": number, "error": error})


async def _write(writer: asyncio.StreamWriter, message: object) -> None:
    writer.write(json_bytes(message) + b"\n")
    await writer.drain()
