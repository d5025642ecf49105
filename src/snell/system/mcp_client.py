"""Call an MCP server over stdio or HTTP, with the `mcp` library."""

import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from snell.model.context import McpServer
from snell.system.child_environment import environment
from snell.system.deadline import SLICE, CancelledError, Deadline, DeadlineExceededError, FailedError
from snell.system.optional_packages import install_advice, missing_message

if TYPE_CHECKING:
    from snell.model.context import CancelFlag

MOST_TOOLS = 2_000
T = TypeVar("T")


class McpError(FailedError):
    """The tool could not be called."""


def call_tool(
    server: McpServer, tool: str, given: Mapping[str, Any], env: Mapping[str, str], deadline: Deadline
) -> str:
    """Return the text of the tool's result. Starts the server, and ends it afterwards."""

    async def call(session: Any) -> str:
        result = await session.call_tool(tool, dict(given))
        text = "\n".join(part.text for part in result.content if getattr(part, "type", "") == "text")
        if result.is_error:
            raise McpError("output", f"the tool reports an error: {text[:300]}")
        return text

    return _request(server, call, env, deadline)


def list_tools(server: McpServer, env: Mapping[str, str], deadline: Deadline) -> list[dict[str, Any]]:
    """Return the tools that the server lists, as a client would get them. Starts the server, and ends it afterwards."""

    found: list[Any] = []

    async def ask(session: Any) -> list[dict[str, Any]]:
        from mcp.types import PaginatedRequestParams

        cursor = None
        while len(found) < MOST_TOOLS:
            page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
            if not page.next_cursor or page.next_cursor == cursor:
                break
            cursor = page.next_cursor
        named = (each for each in found if isinstance(each, dict) and isinstance(each.get("name"), str))
        return [each for each in named if each["name"]][:MOST_TOOLS]

    return _request(server, ask, env, deadline, lambda reading: _ToolCollector(reading, found))


class _ToolCollector:
    """
    Wraps the stream of a server's messages and moves the tools out of them into a list.

    The library refuses a complete list for one invalid tool in it; the caller wants the others.
    """

    def __init__(self, reading: Any, tools: list[Any]) -> None:
        self._reading, self._tools = reading, tools

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reading, name)

    async def __aenter__(self) -> "_ToolCollector":
        await self._reading.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._reading.__aexit__(*error)

    def __aiter__(self) -> "_ToolCollector":
        return self

    async def __anext__(self) -> Any:
        item = await self._reading.__anext__()
        result = getattr(getattr(item, "message", None), "result", None)
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            self._tools += result["tools"][:MOST_TOOLS]
            result["tools"] = []
        return item


def _request(
    server: McpServer,
    question: Callable[[Any], Awaitable[T]],
    env: Mapping[str, str],
    deadline: Deadline,
    wrap: Callable[[Any], Any] = lambda reading: reading,
) -> T:
    try:
        import anyio
        import mcp
    except ImportError:
        raise McpError("launch", f"{missing_message('mcp')}; {install_advice('mcp')}") from None
    _silence_logs()
    found: list[T] = []

    async def exchange(errlog: TextIO) -> None:
        async with (
            _streams(server, env, errlog, deadline) as (reading, writing),
            mcp.ClientSession(wrap(reading), writing) as session,
        ):
            await session.initialize()
            found.append(await question(session))

    async def exchange_in_time(errlog: TextIO) -> None:
        with anyio.move_on_after(deadline.remaining()) as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(_watch, deadline.cancel, group.cancel_scope)
                await exchange(errlog)
                group.cancel_scope.cancel()
        if scope.cancelled_caught:
            raise DeadlineExceededError

    try:
        with open(os.devnull, "w", encoding="utf-8") as errlog:
            anyio.run(exchange_in_time, errlog)
    except (OSError, BaseExceptionGroup, mcp.MCPError) as error:
        raise _unwrap(error, server) from None
    if not found:
        raise CancelledError
    return found[0]


def _silence_logs() -> None:
    """Add null handlers: without any handler, Python would print the library's tracebacks to our caller's stderr."""
    for library in map(logging.getLogger, ("mcp", "client")):  # it logs under both names
        if not library.handlers:
            library.addHandler(logging.NullHandler())


@asynccontextmanager
async def _streams(
    server: McpServer, env: Mapping[str, str], errlog: TextIO, deadline: Deadline
) -> AsyncIterator[tuple[Any, Any]]:
    import mcp

    if server.url:
        from httpx2 import AsyncClient
        from mcp.client.streamable_http import streamable_http_client

        async with (
            AsyncClient(headers=dict(server.headers), timeout=deadline.remaining()) as client,
            streamable_http_client(server.url, http_client=client) as streams,
        ):
            yield streams[0], streams[1]
        return
    variables = environment(env, server.env)
    parameters = mcp.StdioServerParameters(command=server.command, args=list(server.args), env=variables)
    async with mcp.stdio_client(parameters, errlog=errlog) as streams:
        yield streams[0], streams[1]


async def _watch(cancel: "CancelFlag | None", scope: Any) -> None:
    import anyio

    # The event is set by another thread, which knows nothing of this loop.
    while cancel is None or not cancel.is_set():  # noqa: ASYNC110 - so it has to be polled
        await anyio.sleep(SLICE)
    scope.cancel()


def _unwrap(error: BaseException, server: McpServer) -> Exception:
    """Return the error that matters, out of the groups in which the library wraps it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, McpError | DeadlineExceededError | CancelledError):
        return error
    if isinstance(error, FileNotFoundError | PermissionError):
        return McpError("launch", f"cannot start `{server.command}`: {error.strerror}")
    if not isinstance(error, Exception):
        raise error
    if type(error).__name__ == "ValidationError":  # of the library's own library, and many lines long
        return McpError("output", "the server failed: its reply does not follow the protocol")
    return McpError("crash", f"the server failed: {type(error).__name__}: {error}")
