"""What is said between us and a language model, in one shape whatever server answers."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct


class ModelError(Exception):
    """The model could not be asked, or did not answer; `kind` is a failure's: launch or output."""

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
    """One message: text, and in a loop the tools that were called or what they gave."""

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


class Tool(Struct, frozen=True):
    name: str
    says: str
    schema: Mapping[str, Any]


class Question(Struct, frozen=True):
    system: str
    said: tuple[Message, ...]
    model: str = ""  # empty: the default one
    tools: tuple[Tool, ...] = ()
    begins: str = ""  # how the answer has to begin, where the server can be told
    max_tokens: int = 1_000


class Turn(Struct, frozen=True):
    """What the model answered, and what that took."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
