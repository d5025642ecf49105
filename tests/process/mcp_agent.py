"""A real MCP client that starts `snell mcp` as a process, in the home of one machine."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client, ClientSession, StdioServerParameters, stdio_client

from tests.process.machine import Machine

T = TypeVar("T")
BOUND = 60.0
SNELL = Path(sys.executable).with_name("snell")


class McpAgent:
    """Everything about one home; each test has a project of its own there."""

    def __init__(self, machine: Machine, project: Path) -> None:
        self.machine = machine
        self.project = project

    def parameters(self, *words: str) -> StdioServerParameters:
        command, *args = words or (str(SNELL), "mcp")
        return StdioServerParameters(command=command, args=args, env=self.machine.env(), cwd=self.project)

    @asynccontextmanager
    async def session(self, *words: str) -> AsyncIterator[ClientSession]:
        """A client that shook hands, as those of the older protocol versions do."""
        async with stdio_client(self.parameters(*words)) as streams, ClientSession(*streams) as session:
            await session.initialize()
            yield session

    def run(self, work: Callable[[ClientSession], Awaitable[T]], *words: str) -> T:
        async def talk() -> T:
            async with self.session(*words) as session:
                return await work(session)

        return run_bounded(talk())

    def modern(self, work: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
        """The same with a client of the newest protocol, which shakes no hands."""

        async def talk() -> T:
            async with Client(stdio_client(self.parameters()), mode=mode) as client:
                return await work(client)

        return run_bounded(talk())

    def call(self, name: str, **arguments: Any) -> Any:
        """The structured answer of one tool."""

        async def work(session: ClientSession) -> Any:
            return await session.call_tool(name, arguments)

        return content_of(self.run(work))


def run_bounded(work: Any) -> Any:
    return asyncio.run(asyncio.wait_for(work, BOUND))


def content_of(result: Any) -> Any:
    assert not result.is_error, result.content[0].text
    return result.structured_content


def error_of(result: Any) -> str:
    assert result.is_error, result.structured_content
    return str(result.content[0].text)
