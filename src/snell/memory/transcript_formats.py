"""
How each client writes down what its agent said: one row for each format.

A row says which bytes a line of interest holds, which fields must have which values, where the text is, and what makes
a message the same one written again. A client that is not listed is read as Claude Code's.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct


class Format(Struct, frozen=True):
    marker: bytes  # lines without it are not even parsed
    fields: Mapping[str, str]  # path -> the value it must have
    texts: tuple[str, ...]  # paths to the text; `*` goes through a list
    id: str = "uuid"
    side: str = ""  # a path whose truth says that this was not the main conversation


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
_USUAL = FORMATS["claude-code"]


class Said(Struct, frozen=True):
    """One message of the agent."""

    id: str
    text: str


def said_in(line: bytes, client: str) -> Said | None:
    """What the agent said in this line; None when it is about something else."""
    form = FORMATS.get(client.replace("_", "-"), _USUAL)
    if form.marker not in line:
        return None
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    if any(_first(row, path) != wanted for path, wanted in form.fields.items()) or _first(row, form.side):
        return None
    for path in form.texts:
        texts = [each.strip() for each in _at(row, path.split(".")) if isinstance(each, str) and each.strip()]
        if texts:
            return Said(str(_first(row, form.id) or ""), "\n\n".join(texts))
    return None


def _first(row: Any, path: str) -> Any:
    return next(_at(row, path.split(".")), None) if path else None


def _at(value: Any, path: list[str]) -> Iterator[Any]:
    if not path:
        yield value
    elif path[0] == "*":
        for each in value if isinstance(value, list) else ():
            if not isinstance(each, dict) or each.get("type") not in ("thinking", "reasoning"):
                yield from _at(each, path[1:])
    elif isinstance(value, dict) and path[0] in value:
        yield from _at(value[path[0]], path[1:])
