"""How one turn of a scripted model looks on each wire that coding agents speak."""

import json
from typing import Any

from msgspec import Struct

from tests.loopback import Answer


class Said(Struct, frozen=True):
    """What the model says in one turn: text, and calls of tools as (name, input)."""

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    tokens: int = 100  # that the conversation has by now, where a wire tells it
    refusal: str = ""  # instead of all this, on the first wire


def answer(path: str, asked: dict[str, Any], said: Said, number: int) -> Answer:
    """The answer to a request at this path; `number` makes its ids unlike those of other turns."""
    streams = bool(asked.get("stream"))
    if said.refusal:
        error = {"type": "invalid_request_error", "message": said.refusal}
        return Answer({"type": "error", "error": error}, 400)
    if path.endswith("/messages"):
        return _events(_anthropic_events(said, number)) if streams else Answer(_anthropic(said, number))
    if path.endswith("/chat/completions"):
        return _events(_chat_events(said, number)) if streams else Answer(_chat(said, number))
    if path.endswith("/responses"):
        return _events(_responses_events(said, number))
    if ":streamGenerateContent" in path:
        return _events([_gemini(said, number)])
    if ":generateContent" in path:
        return Answer(_gemini(said, number))
    if path.endswith(("count_tokens", ":countTokens")):
        return Answer({"input_tokens": 10, "totalTokens": 10})
    return Answer({"object": "list", "models": [], "data": [{"id": "scripted", "object": "model"}]})


def _events(events: list[dict[str, Any]]) -> Answer:
    chunks = [f"event: {each['type']}\n" if "type" in each else "" for each in events]
    chunks = [f"{head}data: {json.dumps(each)}\n\n" for head, each in zip(chunks, events, strict=True)]
    if events and events[0].get("object") == "chat.completion.chunk":
        chunks.append("data: [DONE]\n\n")
    return Answer(headers={"content-type": "text/event-stream"}, chunks=tuple(each.encode() for each in chunks))


def _anthropic(said: Said, number: int) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": said.text}] if said.text else []
    for place, (name, given) in enumerate(said.calls):
        content.append({"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": given})
    ending = {"stop_reason": "tool_use" if said.calls else "end_turn", "stop_sequence": None}
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted"}
    return {**head, "content": content, **ending, "usage": {"input_tokens": said.tokens, "output_tokens": 10}}


def _anthropic_events(said: Said, number: int) -> list[dict[str, Any]]:
    whole = _anthropic(said, number)
    begun = {**whole, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for index, part in enumerate(whole["content"]):
        is_text = part["type"] == "text"
        block = {**part, "text": ""} if is_text else {**part, "input": {}}
        delta = {"type": "text_delta", "text": part["text"]} if is_text else None
        delta = delta or {"type": "input_json_delta", "partial_json": json.dumps(part["input"])}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 10}})
    return [*events, {"type": "message_stop"}]


CHAT_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
CHAT_USAGE |= {"prompt_tokens_details": {"cached_tokens": 40}}


def _chat_calls(said: Said, number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for place, (name, given) in enumerate(said.calls)
    ]


def _chat(said: Said, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text}
    if said.calls:
        message["tool_calls"] = _chat_calls(said, number)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if said.calls else "stop"}
    head = {"id": f"chat_{number}", "object": "chat.completion", "created": 1, "model": "scripted"}
    return {**head, "choices": [choice], "usage": CHAT_USAGE}


def _chat_events(said: Said, number: int) -> list[dict[str, Any]]:
    head = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": said.text}]
    deltas += [{"tool_calls": [{"index": n, **call}]} for n, call in enumerate(_chat_calls(said, number))]
    ending = "tool_calls" if said.calls else "stop"
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": ending})
    events = [{**head, "choices": [choice]} for choice in choices]
    return [*events, {**head, "choices": [], "usage": CHAT_USAGE}]


def _responses_events(said: Said, number: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if said.text:
        content = [{"type": "output_text", "text": said.text}]
        items.append({"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content})
    for place, (name, given) in enumerate(said.calls):
        group, _, tool = name.rpartition("/")  # `mcp__snell/remember`: a tool of a group that is not offered by itself
        call = {"call_id": f"call_{number}_{place}", "name": tool, **({"namespace": group} if group else {})}
        if isinstance(given, str):  # a tool that takes a text
            items.append({"type": "custom_tool_call", **call, "input": given})
        else:
            items.append({"type": "function_call", **call, "arguments": json.dumps(given)})
    usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    usage |= {"input_tokens_details": {"cached_tokens": 40}, "output_tokens_details": None}
    return [
        {"type": "response.created", "response": {"id": f"resp_{number}"}},
        *({"type": "response.output_item.done", "item": item} for item in items),
        {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}},
    ]


def _gemini(said: Said, number: int) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": said.text}] if said.text else []
    for place, (name, given) in enumerate(said.calls):
        parts.append({"functionCall": {"id": f"call_{number}_{place}", "name": name, "args": given}})
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    usage = {"cachedContentTokenCount": 40, "promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
