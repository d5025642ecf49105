"""Convert results of MCP tools for hooks, and changes of hooks back; for the two MCP adapters."""

import json
from typing import Any

from snell.embed.embedded_agent import library

PACKAGE = "mcp"


def result_for_hooks(result: Any) -> Any:
    """Return the text of a result that is only text, else its blocks as JSON."""
    blocks = [block.model_dump(mode="json", exclude_none=True) for block in result.content]
    if all(block.get("type") == "text" for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return blocks


def structured_content(old: dict[str, Any], value: Any) -> dict[str, Any] | None:
    """Return the structured form of a changed result; the library wraps values that are not objects."""
    is_wrapped = old.keys() == {"result"}
    if isinstance(value, str) and not (is_wrapped and isinstance(old["result"], str)):
        try:
            value = json.loads(value)
        except ValueError:
            return {"result": value} if is_wrapped else None
    if isinstance(value, dict) and not (is_wrapped and isinstance(old["result"], dict)):
        return value
    return {"result": value} if is_wrapped else None


def matches_schema(result: Any, schema: Any) -> bool:
    """Whether a result matches the output schema of its tool; clients discard one that does not."""
    from snell.packs.tool_inputs.input_check import schema_faults

    value = result.structured_content
    return schema is None or (value is not None and not schema_faults(value, schema))


def content_blocks(value: Any) -> Any:
    """Return content blocks for a list of blocks from a hook; other values stay."""
    if not (isinstance(value, list) and all(isinstance(each, dict) and "type" in each for each in value)):
        return value
    adapter = library("pydantic", PACKAGE).TypeAdapter(library("mcp.types", PACKAGE).ContentBlock)
    return [adapter.validate_python(each) for each in value]


def with_notes(given: Any, notes: tuple[str, ...]) -> Any:
    if not notes:
        return given
    block = library("mcp.types", PACKAGE).TextContent(type="text", text="\n".join(notes))
    return given.model_copy(update={"content": [*given.content, block]})
