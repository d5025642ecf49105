"""
What an agent may do less than a person: files only in the folder it works in, and what changes or deletes memories
only in its own project.

The daemon reads and writes with all rights of its user, and what a client asks its user about does not hold here.
"""

import os
from collections.abc import Mapping
from typing import Any

from snell.memory.project_identity import project_of
from snell.model.errors import SnellError
from snell.operations.mcp.tools import McpTool


def limit_arguments(tool: McpTool, arguments: Mapping[str, Any], cwd: str) -> dict[str, Any]:
    """The arguments, with whole paths. Raises SnellError for what is not allowed."""
    given = dict(arguments)
    if tool.path:
        given[tool.path] = _inside(cwd, given[tool.path])
    if tool.name in _OF_ITS_OWN:
        given["project"] = _own_project(tool, given.get("project"), cwd)
    if tool.name in _BY_ID:
        given["within"] = project_of(cwd)
    if tool.name == "nearby" and not given.get("project"):  # other projects are shown to those who ask for them
        given["within"] = project_of(cwd)
    return given


_OF_ITS_OWN = ("import_memories", "delete_namespace", "rename_namespace", "decay", "consolidate")
_BY_ID = ("forget", "forget_batch", "reinforce")  # recall in all projects shows ids of other ones


def _inside(cwd: str, path: str) -> str:
    if not cwd or "\0" in path:
        raise SnellError(f"`{path[:200]}` cannot be used", advice="start the client in the folder of the project")
    root, whole = os.path.realpath(cwd), os.path.realpath(os.path.join(cwd, path))
    inner = os.path.relpath(whole, root)
    if os.path.isabs(inner) or any(part.startswith(".") for part in inner.split(os.sep)):
        where = f"`{path[:200]}` is not a plain file in `{root}`"
        raise SnellError(where, advice="name one there, or let a person run `snell memory`")
    return whole


def _own_project(tool: McpTool, named: str | None, cwd: str) -> str:
    """INVARIANT: what a file in a repository says, or makes an agent do, changes nothing in other projects."""
    own = project_of(cwd)
    if named and named != own:
        advice = "a person can, with `snell memory`"
        raise SnellError(f"`{tool.name}` works on the project you are in, not on `{named[:200]}`", advice=advice)
    return own
