"""Questions to a language model and its answers, in one form for all servers."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from snell.system.deadline import FailedError


class ModelError(FailedError):
    """The model could not be asked, or did not answer."""


class ToolCall(Struct, frozen=True):
    id: str
    name: str
    input: dict[str, Any] = {}


class ToolResult(Struct, frozen=True):
    id: str
    text: str


class Message(Struct, frozen=True):
    """One message: text, and in a loop with tools their calls or results."""

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


class Tool(Struct, frozen=True):
    name: str
    description: str
    schema: Mapping[str, Any]


class Question(Struct, frozen=True):
    system: str
    messages: tuple[Message, ...]
    model: str = ""  # empty: the default one
    tools: tuple[Tool, ...] = ()
    begins: str = ""  # the required beginning of the answer, for servers that support it
    max_tokens: int = 1_000


class Turn(Struct, frozen=True):
    """One answer of the model, and the tokens that it used."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0


def object_in(text: str) -> dict[str, Any]:
    """Return the input of a tool call, which is a JSON object; empty if it cannot be read."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return {}


def json_objects(text: str, decoder: json.JSONDecoder) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield the objects in the text of an answer with their positions; None where one begins that cannot be read."""
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        yield at, value
        at = text.find("{", end)
