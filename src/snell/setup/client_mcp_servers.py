"""Read the MCP servers that a client is configured with from its own files, and ask them what their tools take."""

import json
import re
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.clients import client_named
from snell.model.context import McpServer
from snell.model.errors import SnellError
from snell.model.events import as_table, value_at
from snell.model.installs import ENTRY_NAME, Install
from snell.settings.load import load
from snell.settings.locate import project_at
from snell.settings.read_json import JsonScanner
from snell.setup.edit_yaml import yaml_values
from snell.setup.plan import Site, expand_path, find_installed_clients
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.files import read_capped
from snell.system.mcp_client import McpError, list_tools
from snell.system.mcp_tool_schemas import LearnedServer, LearnedTool, store_learned_tools
from snell.system.paths import make_private, places

LARGEST = 20_000_000  # Claude Code keeps its history of projects in the same file
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|\{env:([A-Za-z_]\w*)\}")


class ConfiguredServer(Struct, frozen=True):
    """An MCP server in one client's configuration: for all projects of the user, or for one project."""

    client: str
    name: str
    server: McpServer
    project: str = ""


def servers_of(install: Install, site: Site, *, is_trusted: bool) -> list[ConfiguredServer]:
    """Return the client's servers in this project. A project's own servers are read only if it is trusted."""
    found: list[ConfiguredServer] = []
    project = str(site.project)
    for scope, path in install.mcp.items():
        if scope == "user" or is_trusted:
            values = file_values(Path(expand_path(install, path, site)), install.mcp_format)
            found += _rows(values, install, "" if scope == "user" else project, site.env)
            # Claude Code also keeps a user's servers for one project in the user's file.
            own = as_table(as_table(as_table(values).get("projects")).get(project)) if scope == "user" else {}
            found += _rows(own, install, project, site.env)
    return found


def _rows(values: Any, install: Install, project: str, env: Mapping[str, str]) -> Iterator[ConfiguredServer]:
    for name, row in as_table(value_at(values, install.mcp_at)).items():
        server = _server(as_table(row), env) if name != ENTRY_NAME else None
        if server:
            yield ConfiguredServer(install.name, name, server, project)


def _server(row: Mapping[str, Any], env: Mapping[str, str]) -> McpServer | None:
    """Return a server from an entry in any client's form; None if it is disabled or not a server."""
    if row.get("enabled") is False or row.get("disabled") is True:
        return None
    nested = as_table(row.get("command"))  # an older form of Zed
    command = nested.get("path") or row.get("command") or row.get("cmd")
    args = nested.get("args") or row.get("args")
    if isinstance(command, list) and command:  # OpenCode
        command, args = command[0], command[1:]
    variables = _texts(
        nested.get("env") or next((row[name] for name in ("env", "environment", "envs") if row.get(name)), {}), env
    )
    if isinstance(command, str):
        words = [_fill_variables(each, env) for each in args if isinstance(each, str)] if isinstance(args, list) else []
        return McpServer(_fill_variables(command, env), tuple(words), variables)
    url = next((row[name] for name in ("url", "httpUrl", "serverUrl", "uri") if isinstance(row.get(name), str)), "")
    headers = _texts(row.get("headers") or row.get("http_headers"), env)
    return McpServer("", url=_fill_variables(url, env), headers=headers) if url else None


def _texts(value: Any, env: Mapping[str, str]) -> dict[str, str]:
    return {str(name): _fill_variables(str(each), env) for name, each in as_table(value).items()}


def _fill_variables(text: str, env: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: env.get(found[1] or found[3], found[2] or ""), text)


def file_values(path: Path, form: str) -> Any:
    """Return the values of a client's file; nothing if it does not exist or cannot be read."""
    try:
        text = read_capped(path, LARGEST).decode("utf-8-sig")
        if form in ("toml", "yaml"):
            return tomllib.loads(text) if form == "toml" else yaml_values(text)
        with suppress(ValueError):  # far quicker than the scanner, which also takes comments
            return json.loads(text)
        return JsonScanner(text, comments=True).document().value
    except (OSError, SnellError, ValueError, RecursionError):
        return {}


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
