"""Ask the MCP servers of the installed clients for the input schemas of their tools."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.clients import client_named
from snell.settings.load import load
from snell.settings.locate import project_at
from snell.setup.client_mcp_servers import ConfiguredServer, servers_of
from snell.setup.plan import Site, find_installed_clients
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.mcp_client import McpError, list_tools
from snell.system.mcp_tool_schemas import LearnedServer, LearnedTool, store_learned_tools
from snell.system.paths import make_private, places

LARGEST_SCHEMA_BYTES = 200_000


class ServerResult(Struct, frozen=True):
    """The result for one server: how many tools it has, or why it did not answer."""

    server: ConfiguredServer
    tools: int = 0
    problem: str = ""


def configured_servers(env: Mapping[str, str], cwd: Path, client: str = "") -> list[ConfiguredServer]:
    """Return the MCP servers of one client, or of all clients on this machine."""
    project = project_at(cwd).root
    site = Site.here(env, project)
    is_trusted = load(places(env), cwd, env).is_trusted
    installs = [client_named(client).install] if client else find_installed_clients(site)
    return [each for install in installs for each in servers_of(install, site, is_trusted=is_trusted)]


def learn(env: Mapping[str, str], servers: list[ConfiguredServer], seconds: float) -> Iterator[ServerResult]:
    """Ask the servers one after the other, and store each answer at once."""
    state = places(env).state
    make_private(state)
    answers: dict[str, ServerResult | LearnedServer] = {}
    for each in servers:
        # Several clients often have the same server; it is started only once.
        key = repr(each.server)
        if key not in answers:
            answers[key] = _ask(each, env, seconds)
        answer = answers[key]
        if isinstance(answer, ServerResult):
            yield ServerResult(each, problem=answer.problem)
            continue
        row = LearnedServer(each.client, each.name, each.project, time.time(), answer.tools)
        store_learned_tools(state, [row])
        yield ServerResult(each, len(row.tools))


def _ask(each: ConfiguredServer, env: Mapping[str, str], seconds: float) -> ServerResult | LearnedServer:
    try:
        found = list_tools(each.server, env, Deadline(seconds))
    except McpError as error:
        return ServerResult(each, problem=str(error))
    except (DeadlineExceededError, CancelledError):
        return ServerResult(each, problem=f"did not answer within {seconds:g} s")
    return LearnedServer(each.client, each.name, tools={str(tool["name"]): _tool(tool) for tool in found})


def _tool(answer: Mapping[str, Any]) -> LearnedTool:
    schema, hints = answer.get("inputSchema"), answer.get("annotations")
    fits = isinstance(schema, dict) and len(repr(schema)) <= LARGEST_SCHEMA_BYTES
    return LearnedTool(schema if fits and isinstance(schema, dict) else {}, hints if isinstance(hints, dict) else {})
