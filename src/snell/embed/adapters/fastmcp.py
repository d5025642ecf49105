"""
FastMCP: the hooks of a runtime as middleware of an MCP server, around the tool calls of all its clients.

    server.add_middleware(middleware(runtime))

Hooks match a tool by its own name and by `mcp__SERVER__TOOL`, its name in a coding agent.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from snell.embed.embedded_agent import EmbeddedAgent, embedded_agent_for, library
from snell.embed.mcp_results import content_blocks, matches_schema, result_for_hooks, structured_content, with_notes
from snell.embed.tool_call import Input, Result
from snell.runtime.app import Runtime

PACKAGE = "fastmcp"


def middleware(runtime: Runtime, **options: Any) -> Any:
    """
    Return middleware for `FastMCP(middleware=[...])`.

    Options: session_id (default: the id of the connection), cwd, approve, known_as.
    """
    base = library("fastmcp.server.middleware", PACKAGE).Middleware
    at, named = embedded_agent_for(runtime, "fastmcp", options), "session_id" in options

    class Snell(base):  # type: ignore[misc, valid-type] # the library is optional, so it has no types
        async def on_call_tool(self, context: Any, call_next: Callable[[Any], Any]) -> Any:
            message, returned = context.message, []

            async def execute(value: Input) -> Any:
                request = message.model_copy(update={"arguments": value})
                returned.append(await call_next(context.copy(message=request)))
                return _unless_failed(returned[0])

            here = _at(at, context, named=named)
            plan = here.plan(message.name, message.arguments or {}, execute, output_for_hooks=result_for_hooks)
            result = await here.run_async(plan)
            given = returned[0] if returned else None
            is_rewritten = not result.is_error and result.output is not given
            return _answer(result, given, await _output_schema(context) if is_rewritten else None)

    return Snell()


class _ToolFailedError(Exception):
    def __init__(self, result: Any) -> None:
        super().__init__(str(result_for_hooks(result)))
        self.result = result


def _at(at: EmbeddedAgent, context: Any, *, named: bool) -> EmbeddedAgent:
    server = context.fastmcp_context
    if server is None:
        return at
    name = context.message.name
    known_as = {name: f"mcp__{server.fastmcp.name}__{name}", **at.known_as}
    return replace(at, session_id=at.session_id if named else _session(server) or at.session_id, known_as=known_as)


def _session(server: Any) -> str:
    try:
        return str(server.session_id)
    except RuntimeError:  # a call from within the server, without a connection
        return ""


def _unless_failed(result: Any) -> Any:
    if getattr(result, "is_error", False):
        raise _ToolFailedError(result)
    return result


async def _output_schema(context: Any) -> Any:
    """Return the output schema of the called tool; None without one."""
    server = context.fastmcp_context
    tool = await server.fastmcp.get_tool(context.message.name) if server else None
    return getattr(tool, "output_schema", None)


def _answer(result: Result, returned: Any, schema: Any) -> Any:
    error = result.exception
    if isinstance(error, _ToolFailedError):
        return with_notes(error.result, result.notes)
    tool_error = library("fastmcp.exceptions", PACKAGE).ToolError
    if error and not (isinstance(error, tool_error) and result.notes):
        raise error
    if result.is_error:
        raise tool_error(result.text) from error
    changed = _replace_output(returned, result.output)
    if not matches_schema(changed, schema):
        raise tool_error("\n".join(filter(None, [str(result_for_hooks(changed)), *result.notes])))
    return with_notes(changed, result.notes)


def _replace_output(returned: Any, value: Any) -> Any:
    """Return the result with the output of a hook, also in its structured form, so that removed data stay removed."""
    if value is returned:
        return returned
    other = None if returned.structured_content is None else structured_content(returned.structured_content, value)
    tools = library("fastmcp.tools", PACKAGE)
    return tools.ToolResult(content=content_blocks(value), structured_content=other, meta=returned.meta)
