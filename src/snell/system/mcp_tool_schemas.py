"""
The tool schemas of MCP servers that a user had queried: one file, read again when it changes.

Nothing here starts a server. Schemas older than the limit are not used: a server may have changed since.
"""

import json
import os
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.tools import mcp_parts
from snell.system.files import FileError, read_capped, write_atomically

FILE = "mcp_tools.json"
LARGEST = 50_000_000
DAY = 86_400


class LearnedTool(Struct, frozen=True):
    schema: Mapping[str, Any] = {}
    hints: Mapping[str, Any] = {}  # the server's annotations


class LearnedServer(Struct, frozen=True):
    """The tools of a server, as one client knows it: everywhere, or in one project."""

    client: str
    name: str
    project: str = ""
    at: float = 0.0  # seconds
    tools: Mapping[str, LearnedTool] = {}


def learned_tool(state: Path | None, client: str, project: str, tool: str, days: float = 30) -> LearnedTool | None:
    """Return the schema of a tool, `mcp__server__tool`: from this client in this project first, then from any."""
    server, name = mcp_parts(tool)
    if state is None or not name:
        return None
    rows = _by_server(str(state)).get(_name_in_tool(server), ())
    fresh = [row for row in rows if name in row.tools and 0 <= time.time() - row.at + DAY <= (days + 1) * DAY]
    fitting = [row for row in fresh if row.project in ("", project)]
    best = max(fitting, key=lambda row: (bool(row.project), row.client == client, row.at), default=None)
    return best.tools[name] if best else None


def all_learned(state: Path) -> tuple[LearnedServer, ...]:
    """Return every server that was queried."""
    path = state / FILE
    try:
        return _read(str(path), path.stat().st_mtime_ns)
    except OSError:
        return ()


def store_learned_tools(state: Path, servers: list[LearnedServer]) -> None:
    """Add schemas; those that the same server had before are replaced."""
    new = {(each.client, each.name, each.project) for each in servers}
    others = [each for each in all_learned(state) if (each.client, each.name, each.project) not in new]
    write_atomically(state / FILE, msgspec.json.encode([*others, *servers]))


def forget(state: Path, name: str = "") -> int:
    """Delete the schemas of servers of this name, or of all; returns how many."""
    rows = all_learned(state)
    left = [each for each in rows if name and each.name != name]
    if len(left) != len(rows):
        write_atomically(state / FILE, msgspec.json.encode(left))
    return len(rows) - len(left)


def _by_server(state: str) -> Mapping[str, list[LearnedServer]]:
    path = os.path.join(state, FILE)
    try:
        return _index(path, os.stat(path).st_mtime_ns)
    except OSError:
        return {}


@lru_cache(maxsize=4)
def _index(path: str, changed: int) -> dict[str, list[LearnedServer]]:
    found: dict[str, list[LearnedServer]] = {}
    for row in _read(path, changed):
        found.setdefault(_name_in_tool(row.name), []).append(row)
    return found


@lru_cache(maxsize=4)
def _read(path: str, _changed: int) -> tuple[LearnedServer, ...]:
    try:
        return msgspec.convert(json.loads(read_capped(Path(path), LARGEST)), tuple[LearnedServer, ...])
    except (OSError, FileError, ValueError, RecursionError):
        return ()  # not a valid file: as if no server had been queried


def _name_in_tool(name: str) -> str:
    """Return the form of a server's name in a tool's name: clients use letters, digits and underscores only."""
    return "".join(each if each.isalnum() else "_" for each in name.lower())
