"""
Limit what an agent may do: files only in its working directory, changes of memories only in its own project.

The daemon has all rights of its user, and the client's own permission checks do not apply to it.
"""

import os
from collections.abc import Mapping
from typing import Any

from snell.memory.project_identity import project_of
from snell.model.errors import SnellError
from snell.operations.mcp.tools import McpTool


def limit_arguments(tool: McpTool, arguments: Mapping[str, Any], cwd: str) -> dict[str, Any]:
    """Return the arguments with absolute paths and the project set. Raises SnellError for what is not allowed."""
    given = dict(arguments)
    if tool.path:
        given[tool.path] = _inside(cwd, given[tool.path])
    if tool.name in _IN_OWN_PROJECT:
        given["project"] = _own_project(tool, given.get("project"), cwd)
    if tool.name in _BY_ID:
        given["within"] = project_of(cwd)
    if tool.name == "nearby" and not given.get("project"):  # other projects only if they are named
        given["within"] = project_of(cwd)
    return given


_IN_OWN_PROJECT = ("import_memories", "delete_namespace", "rename_namespace", "decay", "consolidate")
_BY_ID = ("forget", "forget_batch", "reinforce")  # a recall in all projects returns ids of other projects


def _inside(cwd: str, path: str) -> str:
    if not cwd or "\0" in path:
        raise SnellError(f"`{path[:200]}` cannot be used", advice="start the client in the project's folder")
    root, absolute = os.path.realpath(cwd), os.path.realpath(os.path.join(cwd, path))
    inner = os.path.relpath(absolute, root)
    if os.path.isabs(inner) or any(part.startswith(".") for part in inner.split(os.sep)):
        where = f"`{path[:200]}` is not a plain file in `{root}`"
        raise SnellError(where, advice="name a file there, or let a person run `snell memory`")
    return absolute


def _own_project(tool: McpTool, named: str | None, cwd: str) -> str:
    """INVARIANT: instructions in a repository cannot make an agent change memories of other projects."""
    own = project_of(cwd)
    if named and named != own:
        advice = "a person can, with `snell memory`"
        raise SnellError(f"`{tool.name}` works on the project you are in, not on `{named[:200]}`", advice=advice)
    return own
