"""Convert results of MCP tools for hooks, and changes of hooks back; for the two MCP adapters."""

import json
from typing import Any

from snell.embed.embedded_agent import library
from snell.embed.tool_call import Result
from snell.system.json_output import json_bytes

PACKAGE = "mcp"


def result_for_hooks(result: Any) -> Any:
    """Return the text of a result that is only text, else its blocks as JSON."""
    blocks = [block.model_dump(mode="json", exclude_none=True) for block in result.content]
    if all(block.get("type") == "text" for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return blocks


def failure_text(result: Any) -> str | None:
    """Return the text of a result that reports a failure; None for any other result."""
    return str(result_for_hooks(result)) if getattr(result, "is_error", False) else None


def changed_result(result: Result) -> Any:
    """Return the result with the output of a hook, also in its structured form, so that removed data stay removed."""
    value, original = result.output, result.original
    if original is None:
        return value
    old = original.structured_content
    structured = None if old is None else _structured_content(old, value)
    return original.model_copy(update={"content": _content_blocks(value), "structured_content": structured})


def _structured_content(old: dict[str, Any], value: Any) -> dict[str, Any] | None:
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


def _content_blocks(value: Any) -> list[Any]:
    """Return content blocks for a list of blocks from a hook; other values become text."""
    types = library("mcp.types", PACKAGE)
    if isinstance(value, list) and all(isinstance(each, dict) and "type" in each for each in value):
        adapter = library("pydantic", PACKAGE).TypeAdapter(types.ContentBlock)
        return [adapter.validate_python(each) for each in value]
    text = value if isinstance(value, str) else json_bytes(value).decode("utf-8")
    return [types.TextContent(type="text", text=text)]


def matches_schema(result: Any, schema: Any) -> bool:
    """Whether a result matches the output schema of its tool; clients discard one that does not."""
    from snell.packs.tool_inputs.input_check import schema_faults

    value = result.structured_content
    return schema is None or (value is not None and not schema_faults(value, schema))


def with_notes(given: Any, notes: tuple[str, ...]) -> Any:
    if not notes:
        return given
    block = library("mcp.types", PACKAGE).TextContent(type="text", text="\n".join(notes))
    return given.model_copy(update={"content": [*given.content, block]})
