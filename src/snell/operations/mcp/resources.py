"""Resources that a client can read without a tool: memories, and the reports of sessions."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types

from snell.memory.map_drawing import brief
from snell.model.errors import SnellError
from snell.system.json_output import json_bytes

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Any]]

MEMORIES, LAST_SESSION = "snell://memories", "snell://sessions/last"
SHOWN = 20  # memories that are listed one by one
# Address, name, description and type of the resources that are always there, and of those with an id.
_FIXED = (
    (MEMORIES, "memories", "the newest memories of this project", "application/json"),
    (LAST_SESSION, "last session", "what Snell decided in the last session", "text/markdown"),
)
_BY_ID = (
    (f"{MEMORIES}/{{id}}", "memory", "one memory, by its id", "application/json"),
    ("snell://sessions/{id}", "session", "what Snell decided in a session", "text/markdown"),
)


class UnknownError(SnellError):
    """The resource does not exist."""

    id = "resource"


async def list_resources(ask: Ask) -> list[types.Resource]:
    """Return the list of memories, the last session, and the newest memories of the project one by one."""
    newest = await ask("memory.list", {"limit": SHOWN})
    fixed = [types.Resource(uri=uri, name=name, description=what, mime_type=kind) for uri, name, what, kind in _FIXED]
    return fixed + [
        types.Resource(uri=f"{MEMORIES}/{each['id']}", name=brief(each["content"], 60), mime_type="application/json")
        for each in newest["memories"]
    ]


def templates() -> list[types.ResourceTemplate]:
    return [
        types.ResourceTemplate(uri_template=uri, name=name, description=what, mime_type=kind)
        for uri, name, what, kind in _BY_ID
    ]


async def read(uri: str, ask: Ask) -> types.TextResourceContents:
    """Return the content of a resource. Raises UnknownError."""
    uri = str(uri)
    if uri == MEMORIES:
        return _json(uri, await ask("memory.list", {"limit": 50}))
    if uri.startswith(f"{MEMORIES}/"):
        return _json(uri, await ask("memory.get", {"memory_id": uri.removeprefix(f"{MEMORIES}/")}))
    if uri.startswith("snell://sessions/"):
        found = await ask("journal.session", {"session_id": uri.removeprefix("snell://sessions/")})
        return types.TextResourceContents(uri=uri, mime_type="text/markdown", text=found["report"])
    raise UnknownError(f"unknown resource `{uri[:200]}`", advice=f"use `{MEMORIES}` or `{LAST_SESSION}`")


def _json(uri: str, value: Any) -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, mime_type="application/json", text=json_bytes(value).decode())
