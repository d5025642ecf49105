"""Questions to a language model and its answers, in one form for all servers."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct


class ModelError(Exception):
    """The model could not be asked, or did not answer; `kind` is the kind of the hook's failure."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


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
