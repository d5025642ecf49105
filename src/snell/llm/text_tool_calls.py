"""
Tool calls as plain text, for programs whose own tools are not restricted to the project.

Such a program is asked as a model without tools: it writes the calls that it wants as JSON, Snell runs them, and asks
again with all earlier messages.
"""

import json
from collections.abc import Iterator

import msgspec

from snell.llm.messages import Message, Question, Tool, ToolCall

_MOST_CALLS = 20  # in one answer
_HOW = (
    "You have these tools, and no others work here. To use some, answer with nothing but one JSON object for each "
    'call, such as {"tool": "Read", "input": {"file_path": "README.md"}}; you will be asked again with what they give.'
)


def question_text(question: Question) -> str:
    """Return a question and all earlier messages as one text."""
    tools = "\n".join(map(_tool_line, question.tools))
    parts = [question.system, *([f"{_HOW}\n{tools}"] if tools else [])]
    return "\n\n".join([*parts, *(part for message in question.messages for part in _parts(message))])


def calls_in(text: str, tools: tuple[Tool, ...]) -> tuple[ToolCall, ...]:
    """Return the calls that an answer asks for; none when it contains a verdict."""
    found = list(_objects(text))
    if not tools or any("ok" in each for each in found):
        return ()
    wanted = [(name, each.get("input")) for each in found if isinstance(name := each.get("tool"), str)]
    return tuple(
        ToolCall(f"call-{number}", name, given if isinstance(given, dict) else {})
        for number, (name, given) in enumerate(wanted[:_MOST_CALLS], 1)
    )


def _tool_line(tool: Tool) -> str:
    return f"- {tool.name}: {tool.description} Its input: {msgspec.json.encode(tool.schema).decode('utf-8')}"


def _parts(message: Message) -> Iterator[str]:
    if message.role == "assistant":
        yield f"You answered:\n{message.text}"
    elif message.text:
        yield message.text
    yield from (f"What {result.id} gives:\n{result.text}" for result in message.results)
    if message.results:
        yield "Use tools again, or give your answer."


def _objects(text: str) -> Iterator[dict[str, object]]:
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)
