"""The MCP servers that a client is configured with, read from the client's own files."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.model.context import McpServer
from snell.model.errors import SnellError
from snell.model.installs import Install
from snell.setup.config_formats import SERVER
from snell.setup.plan import Site, expand_path
from snell.system.files import read_capped

LARGEST = 20_000_000  # Claude Code keeps its whole history of projects in the same file
_TABLES = ("mcpServers", "mcp_servers", "servers", "context_servers", "mcp", "extensions")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|\{env:([A-Za-z_]\w*)\}")


class Configured(Struct, frozen=True):
    """A server as one client knows it: by name, for the user everywhere or in one project."""

    client: str
    name: str
    server: McpServer
    project: str = ""


def servers_of(install: Install, site: Site, *, is_trusted: bool) -> list[Configured]:
    """What the client starts or calls here; a project's own servers only where a person approved the project."""
    found: list[Configured] = []
    project = str(site.project)
    for scope, path in install.mcp.items():
        if scope == "user" or is_trusted:
            whole = _file(Path(expand_path(install, path, site)), install.mcp_format)
            found += _rows(whole, install.name, "" if scope == "user" else project, site.env)
            # Claude Code has servers of a user in one project in the user's file.
            own = _table(_table(_table(whole).get("projects")).get(project)) if scope == "user" else {}
            found += _rows(own, install.name, project, site.env)
    return found


def _rows(whole: Any, client: str, project: str, env: Mapping[str, str]) -> Iterator[Configured]:
    for table in _TABLES:
        for name, row in _table(_table(whole).get(table)).items():
            server = _server(_table(row), env) if name != SERVER else None
            if server:
                yield Configured(client, name, server, project)


def _server(row: Mapping[str, Any], env: Mapping[str, str]) -> McpServer | None:
    """What clients write, in all their ways; None for what is switched off or no server."""
    if row.get("enabled") is False or row.get("disabled") is True:
        return None
    nested = _table(row.get("command"))  # Zed's older form
    command = nested.get("path") or row.get("command") or row.get("cmd")
    args = nested.get("args") or row.get("args")
    if isinstance(command, list) and command:  # OpenCode's
        command, args = command[0], command[1:]
    variables = _texts(
        nested.get("env") or next((row[name] for name in ("env", "environment", "envs") if row.get(name)), {}), env
    )
    if isinstance(command, str):
        words = [_filled(each, env) for each in args if isinstance(each, str)] if isinstance(args, list) else []
        return McpServer(_filled(command, env), tuple(words), variables)
    url = next((row[name] for name in ("url", "httpUrl", "serverUrl", "uri") if isinstance(row.get(name), str)), "")
    headers = _texts(row.get("headers") or row.get("http_headers"), env)
    return McpServer("", url=_filled(url, env), headers=headers) if url else None


def _texts(value: Any, env: Mapping[str, str]) -> dict[str, str]:
    return {str(name): _filled(str(each), env) for name, each in _table(value).items()}


def _filled(text: str, env: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: env.get(found[1] or found[3], found[2] or ""), text)


def _file(path: Path, form: str) -> Any:
    """What the file says; nothing when there is none, or when it cannot be read."""
    try:
        text = read_capped(path, LARGEST).decode("utf-8-sig")
        if form == "toml":
            return tomllib.loads(text)
        if form == "yaml":
            from snell.settings.read_yaml import read_yaml
            from snell.settings.value_tree import plain

            node = read_yaml(text)
            return plain(node) if node else {}
        return json.loads(_LAST_COMMA.sub(_kept, _COMMENT.sub(_kept, text)))
    except (OSError, SnellError, ValueError, RecursionError):
        return {}


def _kept(found: "re.Match[str]") -> str:
    return found[1] or ""


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
