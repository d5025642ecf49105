"""A small MCP server for tests that sends mail: one line in the file OUTBOX for each letter."""

import asyncio
import sys
from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("mail")
outbox = Path(sys.argv[1])


@server.tool()
def send_email(to: str, subject: str, body: str) -> str:
    """Send a letter; answers with its number."""
    with outbox.open("a", encoding="utf-8") as out:
        out.write(f"{to}: {subject}\n")
    return f"SENT-AS-{len(outbox.read_text(encoding='utf-8').splitlines())}"


if __name__ == "__main__":
    asyncio.run(server.run_stdio_async())
