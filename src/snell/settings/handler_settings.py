"""What the settings say about handlers: the model to ask, hosts that webhooks may call, MCP servers."""

from collections.abc import Mapping
from typing import Any

from snell.model.context import HandlerSettings, McpServer, ModelSettings
from snell.system.paths import Places


def handler_settings(values: Mapping[str, Any], where: Places) -> HandlerSettings:
    """From the settings that hold."""
    servers = values.get("mcp_servers") or {}
    return HandlerSettings(
        model=ModelSettings(**(values.get("model") or {})),
        webhook_hosts=tuple(values.get("webhook_hosts") or ()),
        mcp_servers={name: McpServer(**server) for name, server in servers.items()},
        config=str(where.config),
        state=str(where.state),
    )
