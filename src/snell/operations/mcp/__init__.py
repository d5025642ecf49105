"""The MCP server inside the daemon: memories and decisions for agents that use MCP."""
