"""A small MCP server for tests: its tool `check` answers as the input says."""

import asyncio
import os
import time

from mcp.server import MCPServer

server = MCPServer("checker")


@server.tool()
def check(answer: str = "", command: str = "", sleep: float = 0, fail: str = "", die: bool = False) -> str:
    """Answer what is asked for."""
    time.sleep(sleep)
    if die:
        os._exit(3)
    if fail:
        raise ValueError(fail)
    return answer or f'{{"additionalContext": "saw {command}"}}'


if __name__ == "__main__":
    asyncio.run(server.run_stdio_async())
