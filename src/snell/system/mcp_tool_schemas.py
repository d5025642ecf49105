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

from snell.model.events import Event
from snell.model.tools import mcp_parts
from snell.system.files import FileError, read_capped, stat_or_none, write_atomically

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
    rows = [row for row in all_learned(state) if _name_in_tool(row.name) == _name_in_tool(server)]
    fresh = [row for row in rows if name in row.tools and 0 <= time.time() - row.at + DAY <= (days + 1) * DAY]
    fitting = [row for row in fresh if row.project in ("", project)]
    best = max(fitting, key=lambda row: (bool(row.project), row.client == client, row.at), default=None)
    return best.tools[name] if best else None


def annotations_of(event: Event, state: Path | None, project: str) -> Mapping[str, Any] | None:
    """Return a server's annotations of its tool: from the call, or from the last query."""
    given = event.payload.get("tool_annotations")
    if isinstance(given, Mapping) or event.kind != "mcp":
        return given if isinstance(given, Mapping) else None
    known = learned_tool(state, event.client, project, event.tool)
    return known.hints if known else None


def all_learned(state: Path) -> tuple[LearnedServer, ...]:
    path = os.path.join(state, FILE)
    found = stat_or_none(path)
    return _read(path, found.st_mtime_ns) if found else ()


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


@lru_cache(maxsize=4)
def _read(path: str, _changed: int) -> tuple[LearnedServer, ...]:
    try:
        return msgspec.convert(json.loads(read_capped(Path(path), LARGEST)), tuple[LearnedServer, ...])
    except (OSError, FileError, ValueError, RecursionError):
        return ()  # not a valid file: as if no server had been queried


@lru_cache(maxsize=1024)
def _name_in_tool(name: str) -> str:
    """Return the form of a server's name in a tool's name: clients use letters, digits and underscores only."""
    return "".join(each if each.isalnum() else "_" for each in name.lower())
