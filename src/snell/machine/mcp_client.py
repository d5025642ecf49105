"""One call of one tool of an MCP server that speaks on stdin and stdout, through the `mcp` library."""

import os
import threading
from collections.abc import Mapping
from typing import Any, TextIO

from snell.machine.environment import environment
from snell.machine.patience import SLICE, CancelledError, OutOfTimeError, Patience
from snell.machine.surroundings import McpServer


class McpError(Exception):
    """The tool could not be called; `kind` is a failure's."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def call_tool(
    server: McpServer, tool: str, given: Mapping[str, Any], env: Mapping[str, str], patience: Patience
) -> str:
    """The text that the tool gives. Starts the server, and ends it afterwards."""
    try:
        import anyio
        import mcp
    except ImportError:
        raise McpError("launch", "the `mcp` extra is not installed; run `pip install 'snell[mcp]'`") from None
    found: list[str] = []

    async def talk(nowhere: TextIO) -> None:
        parameters = mcp.StdioServerParameters(
            command=server.command, args=list(server.args), env=environment(env, server.env)
        )
        async with (
            mcp.stdio_client(parameters, errlog=nowhere) as (reading, writing),
            mcp.ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            found.append(_text(await session.call_tool(tool, dict(given))))

    async def within(nowhere: TextIO) -> None:
        with anyio.move_on_after(patience.left()) as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(_watch, patience.cancel, group.cancel_scope)
                await talk(nowhere)
                group.cancel_scope.cancel()
        if scope.cancelled_caught:
            raise OutOfTimeError

    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            anyio.run(within, nowhere)
    except (OSError, BaseExceptionGroup, mcp.MCPError) as error:
        raise _plain(error, server) from None
    if not found:
        raise CancelledError
    return found[0]


async def _watch(cancel: threading.Event | None, scope: Any) -> None:
    import anyio

    # It is set from another thread, which knows nothing of this loop.
    while cancel is None or not cancel.is_set():  # noqa: ASYNC110 - so it has to be looked at
        await anyio.sleep(SLICE)
    scope.cancel()


def _text(result: Any) -> str:
    text = "\n".join(part.text for part in result.content if getattr(part, "type", "") == "text")
    if result.is_error:
        raise McpError("output", f"the tool reports an error: {text[:300]}")
    return text


def _plain(error: BaseException, server: McpServer) -> Exception:
    """The one error that matters, out of the groups in which the library wraps it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, McpError | OutOfTimeError | CancelledError):
        return error
    if isinstance(error, FileNotFoundError | PermissionError):
        return McpError("launch", f"cannot start `{server.command}`: {error.strerror}")
    if not isinstance(error, Exception):
        raise error
    return McpError("crash", f"the server failed: {type(error).__name__}: {error}")
