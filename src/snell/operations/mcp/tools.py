"""The MCP tools: the operations that name one, with schemas from their declarations."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from snell.model.catalogue import did_you_mean
from snell.model.errors import SnellError
from snell.operations import all_operations
from snell.operations.declaration import OF_CALLER, Operation

_AGENT_ID = {"type": "string", "maxLength": 200, "description": "the calling agent's id"}


@cache
def tools() -> Sequence[Operation]:
    return [each for each in all_operations() if each.tool]


def find_tool(name: str) -> Operation:
    """Return the operation of a tool. Raises SnellError."""
    known = {each.tool: each for each in tools()}
    if name not in known:
        raise SnellError(f"unknown tool `{name[:80]}`", advice=did_you_mean(name, known))
    return known[name]


@cache
def input_schema(tool: Operation) -> dict[str, Any]:
    """Return the schema of the arguments; every tool also takes the agent's id."""
    schema = _schema(tool.takes)
    properties = {name: _plain(each) for name, each in schema["properties"].items() if name not in OF_CALLER}
    return {**schema, "properties": {**properties, "agent_id": _AGENT_ID}, "additionalProperties": False}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an argument without null and without a default that means nothing: it is left out then."""
    kinds = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    default = {} if schema.get("default") in (None, "") else {"default": schema["default"]}
    own = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**own, **(kinds[0] if kinds else {}), **default}


@cache
def output_schema(tool: Operation) -> dict[str, Any]:
    return _schema(tool.gives)


def _schema(type_: Any) -> dict[str, Any]:
    """Return a schema with an object at the top level: some clients do not resolve a reference there."""
    (top,), components = msgspec.json.schema_components([type_], ref_template="#/$defs/{name}")
    name = top["$ref"].rpartition("/")[2]
    own = {key: value for key, value in components.pop(name).items() if key not in ("title", "description")}
    return {**own, **({"$defs": components} if components else {})}
