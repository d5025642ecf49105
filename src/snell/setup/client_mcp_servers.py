"""Read the MCP servers that a client is configured with from its own files."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.model.context import McpServer
from snell.model.errors import SnellError
from snell.model.events import as_table
from snell.model.installs import ENTRY_NAME, Install
from snell.settings.read_json import JsonScanner
from snell.setup.edit_toml import value_at
from snell.setup.edit_yaml import yaml_values
from snell.setup.plan import Site, expand_path
from snell.system.files import read_capped

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
