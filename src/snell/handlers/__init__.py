"""
The ways to run a hook: command, webhook, prompt, agent, MCP tool, Python; one module each.

A module declares `TYPE` (its keys in a settings file, its default time limit and so on) and defines
`run(hook, event, context)`. It is imported on first use, so it imports slow modules inside functions.
Other distributions add types by the entry-point group `snell.handlers`; see `settings/handler_types.py`.
"""

from collections.abc import Mapping

HANDLERS: Mapping[str, str] = {
    "command": "snell.handlers.command",
    "webhook": "snell.handlers.webhook",
    "prompt": "snell.handlers.prompt",
    "agent": "snell.handlers.agent",
    "mcp_tool": "snell.handlers.mcp_tool",
    "python": "snell.handlers.python",
}
