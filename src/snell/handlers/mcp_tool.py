"""MCP tool hooks: a tool of a configured server gets input made from the event; its text is read as an answer."""

import re
import time
from typing import Any

from msgspec.structs import replace

from snell.engine.hook_output import outcome_of
from snell.handlers.event_json import event_object
from snell.model.context import Context
from snell.model.decision import Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook, McpTool
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.json_output import json_bytes
from snell.system.mcp_client import McpError, call_tool

_FIELD = re.compile(r"\$\{([A-Za-z0-9_.\-]+)\}")
_LONGEST = 1_000_000


def run(hook: Hook, event: Event, context: Context) -> Outcome:
    """Run one MCP tool hook."""
    start = time.perf_counter()
    outcome = _run(hook, event, context, Deadline(hook.time_limit, context.cancel))
    return replace(outcome, seconds=time.perf_counter() - start)


def _run(hook: Hook, event: Event, context: Context, deadline: Deadline) -> Outcome:
    handler = hook.handler
    assert isinstance(handler, McpTool)
    server = context.settings.mcp_servers.get(handler.server)
    if server is None:
        why = f"there is no MCP server `{handler.server}`; describe it in `[mcp_servers.{handler.server}]`"
        return Outcome(failure=Failure("launch", why))
    try:
        text = call_tool(server, handler.tool, _filled(dict(handler.input), event_object(event)), context.env, deadline)
    except McpError as error:
        return Outcome(failure=Failure(error.kind, str(error)))
    except DeadlineExceededError:
        return Outcome(failure=Failure("timeout", f"did not answer within {hook.time_limit:g} s"))
    except CancelledError:
        return Outcome(failure=Failure("cancelled", "was cancelled"))
    if len(text) > _LONGEST:
        return Outcome(failure=Failure("output", "answered more than Snell reads (1 MB)"))
    return outcome_of(text, event)


def _filled(value: Any, payload: dict[str, Any]) -> Any:
    """The input with `${path.to.field}` replaced from the event; what is not there is empty."""
    if isinstance(value, str):
        return _FIELD.sub(lambda found: _at(payload, found[1]), value)
    if isinstance(value, dict):
        return {name: _filled(each, payload) for name, each in value.items()}
    return [_filled(each, payload) for each in value] if isinstance(value, list | tuple) else value


def _at(payload: Any, path: str) -> str:
    for name in path.split("."):
        payload = payload.get(name) if isinstance(payload, dict) else None
    if payload is None:
        return ""
    return payload if isinstance(payload, str) else json_bytes(payload).decode("utf-8")
