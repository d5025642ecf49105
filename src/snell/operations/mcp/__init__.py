"""The MCP server inside the daemon: memories, and what Snell decided, for agents that speak MCP."""
