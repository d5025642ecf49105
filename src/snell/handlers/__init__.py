"""Runners: one file per way of running a hook."""

from collections.abc import Mapping

# What runs each kind of handler row. All but the first have `run(hook, event, context)`, and are imported on first use.
HANDLERS: Mapping[str, str] = {
    "python": "snell.handlers.python",
    "command": "snell.handlers.command",
    "webhook": "snell.handlers.webhook",
    "prompt": "snell.handlers.prompt",
    "agent": "snell.handlers.agent",
    "mcp_tool": "snell.handlers.mcp_tool",
}
