"""
The transcript format of each client: how to find an agent's messages.

A row tells which bytes a relevant line contains, which fields must have which values, where the text is, and which id
identifies a message that is written again. A client that is not listed is read like Claude Code.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct


class Format(Struct, frozen=True):
    marker: bytes  # lines without it are not parsed
    fields: Mapping[str, str]  # path -> the value it must have
    texts: tuple[str, ...]  # paths to the text; `*` goes through a list
    id: str = "uuid"
    side: str = ""  # a path that is true if this was not the main conversation


FORMATS: Mapping[str, Format] = {
    "claude-code": Format(
        b'"assistant"', {"type": "assistant"}, ("message.content.*.text", "message.content"), side="isSidechain"
    ),
    "cursor": Format(b'"assistant"', {"role": "assistant"}, ("message.content.*.text", "message.content", "message")),
    "codex": Format(
        b'"output_text"',
        {"type": "response_item", "payload.type": "message", "payload.role": "assistant"},
        ("payload.content.*.text",),
        id="payload.id",
    ),
    "gemini": Format(b'"gemini"', {"type": "gemini"}, ("content.*.text", "content"), id="id"),
    "qwen": Format(b'"assistant"', {"type": "assistant"}, ("message.parts.*.text",)),
    "copilot": Format(b'"assistant.message"', {"type": "assistant.message"}, ("data.content",), id="id"),
    "droid": Format(
        b'"assistant"', {"type": "message", "message.role": "assistant"}, ("message.content.*.text",), id="id"
    ),
    "pi": Format(
        b'"assistant"', {"type": "message", "message.role": "assistant"}, ("message.content.*.text",), id="id"
    ),
}
_DEFAULT = FORMATS["claude-code"]


class Message(Struct, frozen=True):
    """One message of the agent."""

    id: str
    text: str


def agent_message(line: bytes, client: str) -> Message | None:
    """Return the agent's message in this line; None for any other line."""
    form = FORMATS.get(client.replace("_", "-"), _DEFAULT)
    if form.marker not in line:
        return None
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    if any(_first(row, path) != wanted for path, wanted in form.fields.items()) or _first(row, form.side):
        return None
    for path in form.texts:
        texts = [each.strip() for each in _values_at(row, path.split(".")) if isinstance(each, str) and each.strip()]
        if texts:
            return Message(str(_first(row, form.id) or ""), "\n\n".join(texts))
    return None


def _first(row: Any, path: str) -> Any:
    return next(_values_at(row, path.split(".")), None) if path else None


def _values_at(value: Any, path: list[str]) -> Iterator[Any]:
    if not path:
        yield value
    elif path[0] == "*":
        for each in value if isinstance(value, list) else ():
            if not isinstance(each, dict) or each.get("type") not in ("thinking", "reasoning"):
                yield from _values_at(each, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _values_at(value[path[0]], path[1:])
