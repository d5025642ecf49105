"""
MCP servers with the official Python SDK: the hooks of a runtime around the tool calls of all their clients.

    server = with_hooks(MCPServer("sums"), runtime)

Hooks match a tool by its own name and by `mcp__SERVER__TOOL`, its name in a coding agent. Servers on the low-level API
of the library work in the same way.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from snell.embed.embedded_agent import EmbeddedAgent, embedded_agent_for, library
from snell.embed.mcp_results import content_blocks, matches_schema, result_for_hooks, structured_content, with_notes
from snell.embed.tool_call import Input, Result
from snell.runtime.app import Runtime
from snell.system.json_output import json_bytes

PACKAGE = "mcp"


def with_hooks(server: Any, runtime: Runtime, **options: Any) -> Any:
    """Add hooks to a server and return it. Options: session_id (else the connection's id), cwd, approve, known_as."""
    if not isinstance(getattr(server, "middleware", None), list):
        raise TypeError(f"{type(server).__name__} has no middleware; the library must be `mcp` 2 or newer")
    at, named = embedded_agent_for(runtime, "mcp", options), "session_id" in options

    async def snell(context: Any, call_next: Callable[[Any], Any]) -> Any:
        call = context.params if context.method == "tools/call" else None
        if not isinstance(call, Mapping) or not isinstance(call.get("arguments") or {}, Mapping):
            return await call_next(context)

        returned: list[Any] = []

        async def execute(value: Input) -> Any:
            other = dataclasses.replace(context, params={**call, "arguments": value})
            returned.append(_tool_result(await call_next(other)))
            return returned[0]

        here = _at(at, context, f"mcp__{server.name}__{call.get('name')}", named=named)
        given = dict(call.get("arguments") or {})
        plan = here.plan(
            str(call.get("name")), given, execute, passes=(_MoreNeededError,), output_for_hooks=result_for_hooks
        )
        try:
            result = await here.run_async(plan)
        except _MoreNeededError as more:
            return more.result
        answered = returned[0] if returned else None
        is_rewritten = not result.is_error and result.output is not answered
        schema = await _output_schema(server, str(call.get("name"))) if is_rewritten else None
        return _answer(result, answered, schema)

    server.middleware.append(snell)  # last, next to the tool, so that no other middleware changes what the hooks saw
    return server


class _ToolFailedError(Exception):
    def __init__(self, result: Any) -> None:
        super().__init__(str(result_for_hooks(result)))
        self.result = result


class _MoreNeededError(Exception):
    """The tool asks its caller for more input first, and is called again with it."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


def _at(at: EmbeddedAgent, context: Any, name: str, *, named: bool) -> EmbeddedAgent:
    tool = str(context.params.get("name"))
    headers = getattr(context.request, "headers", None) or {}
    session = "" if named else headers.get("mcp-session-id") or ""
    return replace(at, session_id=session or at.session_id, known_as={tool: name, **at.known_as})


def _tool_result(result: Any) -> Any:
    """Return the result of a tool call. Raises for a failure and for a request for more input."""
    kind = library("mcp.types", PACKAGE).CallToolResult
    if isinstance(result, Mapping) and "content" in result:
        result = kind.model_validate(result)
    if not isinstance(result, kind):
        raise _MoreNeededError(result)
    if result.is_error:
        raise _ToolFailedError(result)
    return result


async def _output_schema(server: Any, name: str) -> Any:
    """Return the output schema of a tool; None without one, and for servers on the low-level API."""
    if not inspect.iscoroutinefunction(getattr(server, "list_tools", None)):
        return None
    return next((tool.output_schema for tool in await server.list_tools() if tool.name == name), None)


def _answer(result: Result, returned: Any, schema: Any) -> Any:
    if isinstance(result.exception, _ToolFailedError):
        return with_notes(result.exception.result, result.notes)
    if result.exception:
        raise result.exception
    types = library("mcp.types", PACKAGE)
    if result.is_error:
        return types.CallToolResult(content=[types.TextContent(type="text", text=result.text)], is_error=True)
    changed = _replace_output(returned, result.output)
    if not matches_schema(changed, schema):
        changed = changed.model_copy(update={"structured_content": None, "is_error": True})
    return with_notes(changed, result.notes)


def _replace_output(returned: Any, value: Any) -> Any:
    """Return the result with the output of a hook, also in its structured form, so that removed data stay removed."""
    if value is returned:
        return returned
    other = None if returned.structured_content is None else structured_content(returned.structured_content, value)
    found = content_blocks(value)
    if found is value:
        text = value if isinstance(value, str) else json_bytes(value).decode("utf-8")
        found = [library("mcp.types", PACKAGE).TextContent(type="text", text=text)]
    return returned.model_copy(update={"content": found, "structured_content": other})
