"""The wire format of Anthropic's Messages API."""

from collections.abc import Iterable
from typing import Any

from snell.llm.messages import Message, Question, ToolCall, Turn, object_in

URL = "https://api.anthropic.com"
PATH = "/v1/messages"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
MODEL = "claude-haiku-4-5"
SHORT_NAMES = {"haiku": MODEL, "sonnet": "claude-sonnet-4-5", "opus": "claude-opus-4-5"}


def headers(key: str) -> dict[str, str]:
    return {"x-api-key": key, "anthropic-version": "2023-06-01"} if key else {"anthropic-version": "2023-06-01"}


def body(question: Question, *, is_plain: bool = False) -> dict[str, Any]:
    """Return the body of a request; a plain one leaves out fields that some models reject."""
    messages: list[dict[str, Any]] = [{"role": each.role, "content": _content(each)} for each in question.messages]
    if question.begins and not is_plain:
        messages.append({"role": "assistant", "content": question.begins})
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in question.tools
    ]
    return {
        "model": question.model,
        "max_tokens": question.max_tokens,
        "system": question.system,
        "messages": messages,
        "stream": True,
        **({"tools": tools} if tools else {}),
    }


def turn_of(answer: dict[str, Any]) -> Turn:
    """Read a complete answer, from a server that does not stream."""
    parts = [part for part in answer.get("content") or () if isinstance(part, dict)]
    usage = answer.get("usage") or {}
    calls = [part for part in parts if part.get("type") == "tool_use"]
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Turn(
        "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text"),
        tuple(ToolCall(str(each.get("id")), str(each.get("name")), dict(each.get("input") or {})) for each in calls),
        sum(int(usage.get(name) or 0) for name in names),
        int(usage.get("output_tokens") or 0),
    )


def turn_from(events: Iterable[dict[str, Any]]) -> Turn | None:
    """Read a streamed answer; None when the stream ended too early."""
    parts: dict[int, dict[str, Any]] = {}
    pieces: dict[int, list[str]] = {}
    usage: dict[str, Any] = {}
    is_done = False
    for event in events:
        kind, index = event.get("type"), int(event.get("index") or 0)
        if kind == "message_start":
            usage.update(event.get("message", {}).get("usage") or {})
        elif kind == "content_block_start":
            parts[index] = dict(event.get("content_block") or {})
        elif kind == "content_block_delta":
            delta = event.get("delta") or {}
            pieces.setdefault(index, []).append(str(delta.get("text") or delta.get("partial_json") or ""))
        elif kind == "message_delta":
            usage.update({name: value for name, value in (event.get("usage") or {}).items() if value is not None})
        is_done |= kind == "message_stop"
    content = [_part(part, "".join(pieces.get(index, ()))) for index, part in sorted(parts.items())]
    return turn_of({"content": content, "usage": usage}) if is_done else None


def _part(part: dict[str, Any], text: str) -> dict[str, Any]:
    if part.get("type") == "tool_use":
        return {**part, "input": object_in(text) if text else part.get("input") or {}}
    return {**part, "text": str(part.get("text", "")) + text}


def _content(message: Message) -> list[dict[str, Any]]:
    results = [{"type": "tool_result", "tool_use_id": each.id, "content": each.text} for each in message.results]
    text = [{"type": "text", "text": message.text}] if message.text else []
    calls = [{"type": "tool_use", "id": each.id, "name": each.name, "input": each.input} for each in message.calls]
    return [*results, *text, *calls]
