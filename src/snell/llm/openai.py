"""The wire format of OpenAI's chat completions, which many servers copy."""

from collections.abc import Iterable
from typing import Any

import msgspec

from snell.llm.messages import Message, Question, ToolCall, Turn, object_in

URL = "https://api.openai.com/v1"
PATH = "/chat/completions"
KEY_VARIABLE = "OPENAI_API_KEY"
MODEL = "gpt-5-mini"
SHORT_NAMES: dict[str, str] = {}


def headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def body(question: Question, *, is_plain: bool = False) -> dict[str, Any]:
    """Return the body of a request; a plain one leaves out fields that some servers reject."""
    messages = [{"role": "system", "content": question.system}]
    for each in question.messages:
        messages += _messages(each)
    tools = [_function(name=tool.name, description=tool.description, parameters=tool.schema) for tool in question.tools]
    wants_json = bool(question.begins) and not is_plain
    limit = "max_tokens" if is_plain else "max_completion_tokens"
    return {
        "model": question.model,
        limit: question.max_tokens,
        "messages": messages,
        "stream": True,
        **({} if is_plain else {"stream_options": {"include_usage": True}}),
        **({"tools": tools} if tools else {}),
        **({"response_format": {"type": "json_object"}} if wants_json else {}),
    }


def turn_of(answer: dict[str, Any]) -> Turn:
    """Read a complete answer, from a server that does not stream."""
    choice: dict[str, Any] = next(iter(answer.get("choices") or ()), {})
    message = choice.get("message") or {}
    usage = answer.get("usage") or {}
    return Turn(
        str(message.get("content") or ""),
        tuple(_call(each) for each in message.get("tool_calls") or ()),
        int(usage.get("prompt_tokens") or 0),
        int(usage.get("completion_tokens") or 0),
    )


def turn_from(events: Iterable[dict[str, Any]]) -> Turn | None:
    """Read a streamed answer; None when the stream ended too early."""
    text: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    usage: dict[str, Any] = {}
    is_done = False
    for event in events:
        usage = event.get("usage") or usage
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            text.append(str(delta.get("content") or ""))
            for each in delta.get("tool_calls") or ():
                call = calls.setdefault(int(each.get("index") or 0), {"function": {}})
                call["id"] = each.get("id") or call.get("id")
                function = each.get("function") or {}
                known = call["function"]
                known["name"] = function.get("name") or known.get("name")
                known["arguments"] = known.get("arguments", "") + str(function.get("arguments") or "")
            is_done |= choice.get("finish_reason") is not None
    message = {"content": "".join(text), "tool_calls": [each for _, each in sorted(calls.items())]}
    return turn_of({"choices": [{"message": message}], "usage": usage}) if is_done else None


def _call(call: dict[str, Any]) -> ToolCall:
    function = call.get("function") or {}
    return ToolCall(str(call.get("id")), str(function.get("name")), object_in(str(function.get("arguments") or "{}")))


def _messages(message: Message) -> list[dict[str, Any]]:
    results = [{"role": "tool", "tool_call_id": each.id, "content": each.text} for each in message.results]
    inputs = [msgspec.json.encode(each.input).decode("utf-8") for each in message.calls]
    calls = [
        {"id": each.id, **_function(name=each.name, arguments=given)}
        for each, given in zip(message.calls, inputs, strict=True)
    ]
    own = {"role": message.role, "content": message.text, **({"tool_calls": calls} if calls else {})}
    return [*results, own] if message.text or calls else [*results]


def _function(**fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": fields}
