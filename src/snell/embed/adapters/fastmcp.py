"""
FastMCP: the hooks of a runtime as middleware of an MCP server, around the tool calls of all its clients.

    server.add_middleware(middleware(runtime))

Hooks match a tool by its own name and by `mcp__SERVER__TOOL`, its name in a coding agent.
"""

from collections.abc import Callable
from typing import Any

from snell.embed.embedded_agent import EmbeddedAgent, embedded_agent_for, library
from snell.embed.mcp_results import changed_result, failure_text, matches_schema, result_for_hooks, with_notes
from snell.embed.tool_call import Input, Result
from snell.runtime.app import Runtime

PACKAGE = "fastmcp"
FORMS: dict[str, Any] = {"output_for_hooks": result_for_hooks, "failure_text": failure_text}


def middleware(runtime: Runtime, **options: Any) -> Any:
    """
    Return middleware for `FastMCP(middleware=[...])`.

    Options: session_id (default: the id of the connection), cwd, approve, known_as.
    """
    base = library("fastmcp.server.middleware", PACKAGE).Middleware
    embedded = embedded_agent_for(runtime, "fastmcp", options)

    class Snell(base):  # type: ignore[misc, valid-type] # the library is optional, so it has no types
        async def on_call_tool(self, context: Any, call_next: Callable[[Any], Any]) -> Any:
            message, called = context.message, _for_call(embedded, context)

            async def execute(value: Input) -> Any:
                return await call_next(context.copy(message=message.model_copy(update={"arguments": value})))

            plan = called.plan(message.name, message.arguments or {}, execute, **FORMS)
            return await _answer(await called.run_async(plan), context)

    return Snell()


def _for_call(embedded: EmbeddedAgent, context: Any) -> EmbeddedAgent:
    server, name = context.fastmcp_context, context.message.name
    if server is None:
        return embedded
    embedded = embedded.with_alias(name, f"mcp__{server.fastmcp.name}__{name}")
    try:
        return embedded.in_session(server.session_id)
    except RuntimeError:  # a call from within the server, without a connection
        return embedded


async def _output_schema(context: Any) -> Any:
    """Return the output schema of the called tool; None without one."""
    server = context.fastmcp_context
    tool = await server.fastmcp.get_tool(context.message.name) if server else None
    return getattr(tool, "output_schema", None)


async def _answer(result: Result, context: Any) -> Any:
    if result.status == "failed" and not result.exception:
        return with_notes(result.original, result.notes)
    tool_error, error = library("fastmcp.exceptions", PACKAGE).ToolError, result.exception
    if error and not (isinstance(error, tool_error) and result.notes):
        raise error
    if result.is_error:
        raise tool_error(result.text) from error
    changed = changed_result(result)
    if result.original is not None and not matches_schema(changed, await _output_schema(context)):
        raise tool_error("\n".join(filter(None, [str(result_for_hooks(changed)), *result.notes])))
    return with_notes(changed, result.notes)
