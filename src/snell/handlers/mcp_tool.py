"""MCP tool hooks: call a tool of a configured MCP server with input made from the event, and read its text as JSON."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from snell.engine.hook_output import outcome_of
from snell.handlers.event_json import event_object
from snell.handlers.waiting import within_limit
from snell.model.context import Context
from snell.model.decision import Outcome
from snell.model.events import Event
from snell.model.hooks import DEFAULT_TIMEOUT, Handler, Hook
from snell.settings.handler_types import HandlerType
from snell.settings.schema import Key
from snell.system.deadline import Deadline
from snell.system.json_output import json_bytes

_FIELD = re.compile(r"\$\{([A-Za-z0-9_.\-]+)\}")
_LONGEST = 1_000_000


class McpTool(Handler, frozen=True):
    kind: ClassVar[str] = "mcp_tool"

    server: str
    tool: str
    input: Mapping[str, Any] = {}

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("mcp_tool", self.server, self.tool, repr(self.input))

    @property
    def short_name(self) -> str:
        return self.tool


TYPE = HandlerType(
    name="mcp_tool",
    help="a tool of an MCP server",
    settings=McpTool,
    keys=(
        Key("server", "text", "the server's name", is_required=True),
        Key("tool", "text", "the tool's name", is_required=True),
        Key("input", "table", "its input; `${path.to.field}` is filled in from the event"),
    ),
    default_timeout=DEFAULT_TIMEOUT,
    identified_by=("server", "tool"),
    extra="mcp",
    waits_for_network=True,
)


@within_limit
def run(hook: Hook, event: Event, context: Context, deadline: Deadline) -> Outcome:
    """Run one MCP tool hook."""
    from snell.system.mcp_client import McpError, call_tool  # slow to import

    handler = hook.handler
    assert isinstance(handler, McpTool)
    server = context.settings.mcp_servers.get(handler.server)
    if server is None:
        why = f"there is no MCP server `{handler.server}`; describe it in `[mcp_servers.{handler.server}]`"
        raise McpError("launch", why)
    arguments = _fill_fields(dict(handler.input), event_object(event))
    text = call_tool(server, handler.tool, arguments, context.env, deadline)
    if len(text) > _LONGEST:
        raise McpError("output", "answered more than Snell reads (1 MB)")
    return outcome_of(text, event)


def _fill_fields(value: Any, payload: dict[str, Any]) -> Any:
    """Replace `${path.to.field}` by the event's field; a missing field is empty."""
    if isinstance(value, str):
        return _FIELD.sub(lambda found: _field_text(payload, found[1]), value)
    if isinstance(value, dict):
        return {name: _fill_fields(each, payload) for name, each in value.items()}
    return [_fill_fields(each, payload) for each in value] if isinstance(value, list | tuple) else value


def _field_text(payload: Any, path: str) -> str:
    for name in path.split("."):
        payload = payload.get(name) if isinstance(payload, dict) else None
    if payload is None:
        return ""
    return payload if isinstance(payload, str) else json_bytes(payload).decode("utf-8")
