"""What a tool of an MCP server gives, as hooks see it and as they may change it; two adapters have such results."""

import json
from typing import Any

from snell.embed.embedded_agent import library

PACKAGE = "mcp"


def result_for_hooks(result: Any) -> Any:
    """Text where there is nothing else, otherwise the blocks as they go over the wire."""
    blocks = [block.model_dump(mode="json", exclude_none=True) for block in result.content]
    if all(block.get("type") == "text" for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return blocks


def structured_content(old: dict[str, Any], value: Any) -> dict[str, Any] | None:
    """The other form of a result: the library writes all but texts as JSON, and wraps what is no object."""
    is_wrapped = old.keys() == {"result"}
    if isinstance(value, str) and not (is_wrapped and isinstance(old["result"], str)):
        try:
            value = json.loads(value)
        except ValueError:
            return {"result": value} if is_wrapped else None
    if isinstance(value, dict) and not (is_wrapped and isinstance(old["result"], dict)):
        return value
    return {"result": value} if is_wrapped else None


def fits(result: Any, schema: Any) -> bool:
    """Does it have the type that its tool declares? Clients throw away one that has not; an error may be any text."""
    from snell.packs.tool_inputs.input_check import schema_faults

    value = result.structured_content
    return schema is None or (value is not None and not schema_faults(value, schema))


def blocks(value: Any) -> Any:
    """Blocks as they were shown to the hook go back as blocks."""
    if not (isinstance(value, list) and all(isinstance(each, dict) and "type" in each for each in value)):
        return value
    adapter = library("pydantic", PACKAGE).TypeAdapter(library("mcp.types", PACKAGE).ContentBlock)
    return [adapter.validate_python(each) for each in value]


def with_notes(given: Any, notes: tuple[str, ...]) -> Any:
    if not notes:
        return given
    block = library("mcp.types", PACKAGE).TextContent(type="text", text="\n".join(notes))
    return given.model_copy(update={"content": [*given.content, block]})
