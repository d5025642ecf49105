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

from snell.embed.embedded_agent import embedded_agent_for, library
from snell.embed.mcp_results import changed_result, failure_text, matches_schema, result_for_hooks, with_notes
from snell.embed.tool_call import Input, Result
from snell.runtime.app import Runtime

PACKAGE = "mcp"
FORMS: dict[str, Any] = {"output_for_hooks": result_for_hooks, "failure_text": failure_text}


def with_hooks(server: Any, runtime: Runtime, **options: Any) -> Any:
    """Add hooks to a server and return it. Options: session_id (else the connection's id), cwd, approve, known_as."""
    if not isinstance(getattr(server, "middleware", None), list):
        raise TypeError(f"{type(server).__name__} has no middleware; the library must be `mcp` 2 or newer")
    embedded = embedded_agent_for(runtime, "mcp", options)

    async def snell(context: Any, call_next: Callable[[Any], Any]) -> Any:
        call = context.params if context.method == "tools/call" else None
        if not isinstance(call, Mapping) or not isinstance(call.get("arguments") or {}, Mapping):
            return await call_next(context)

        async def execute(value: Input) -> Any:
            result = await call_next(dataclasses.replace(context, params={**call, "arguments": value}))
            kind = library("mcp.types", PACKAGE).CallToolResult
            if isinstance(result, Mapping) and "content" in result:
                result = kind.model_validate(result)
            if not isinstance(result, kind):
                raise _MoreNeededError(result)
            return result

        name, given = str(call.get("name")), dict(call.get("arguments") or {})
        headers = getattr(context.request, "headers", None) or {}
        called = embedded.in_session(headers.get("mcp-session-id")).with_alias(name, f"mcp__{server.name}__{name}")
        try:
            result = await called.run_async(called.plan(name, given, execute, passes=(_MoreNeededError,), **FORMS))
        except _MoreNeededError as more:
            return more.result
        return await _answer(result, server)

    server.middleware.append(snell)  # last, next to the tool, so that no other middleware changes what the hooks saw
    return server


class _MoreNeededError(Exception):
    """The tool asks its caller for more input first, and is called again with it."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


async def _output_schema(server: Any, name: str) -> Any:
    """Return the output schema of a tool; None without one, and for servers on the low-level API."""
    if not inspect.iscoroutinefunction(getattr(server, "list_tools", None)):
        return None
    return next((tool.output_schema for tool in await server.list_tools() if tool.name == name), None)


async def _answer(result: Result, server: Any) -> Any:
    if result.exception:
        raise result.exception
    if result.status == "failed":
        return with_notes(result.original, result.notes)
    types = library("mcp.types", PACKAGE)
    if result.is_error:
        return types.CallToolResult(content=[types.TextContent(type="text", text=result.text)], is_error=True)
    changed = changed_result(result)
    if result.original is not None and not matches_schema(changed, await _output_schema(server, result.tool)):
        changed = changed.model_copy(update={"structured_content": None, "is_error": True})
    return with_notes(changed, result.notes)
