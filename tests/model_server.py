"""A scripted language model on loopback that speaks both wire formats, streaming and not."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from tests.loopback import Answer, Sent, Server


class Line(Struct, frozen=True):
    """What the model says in one turn: text, or calls of tools as (name, input)."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    tokens: tuple[int, int] = (100, 10)
    status: int = 200
    before: float = 0.0
    is_cut: bool = False  # the stream breaks off


Says = Callable[[dict[str, Any]], Line]


class ModelServer(Server):
    """`streams=False` is a server that answers whole, whatever it is asked for."""

    def __init__(self, lines: Sequence[Line] | Says, *, streams: bool = True) -> None:
        self._lines = list(lines) if not callable(lines) else lines
        self._streams = streams
        super().__init__(self._spoken)

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [sent.json for sent in self.sent]

    def _spoken(self, sent: Sent) -> Answer:
        line = (
            self._lines(sent.json) if callable(self._lines) else self._lines.pop(0) if self._lines else Line(status=500)
        )
        if line.status != 200:
            return Answer({"error": {"message": line.text or "no"}}, line.status)
        is_anthropic = sent.path.partition("?")[0].endswith("/v1/messages")
        speak = (anthropic_events if self._streams else anthropic_whole) if is_anthropic else None
        speak = speak or (openai_events if self._streams else openai_whole)
        said = speak(line)
        if isinstance(said, dict):
            return Answer(said, headers={"content-type": "application/json"}, before=line.before)
        chunks = tuple(said[:-1] if line.is_cut else said)
        return Answer(headers={"content-type": "text/event-stream"}, chunks=chunks, before=line.before)


@contextmanager
def model(lines: Sequence[Line] | Says, *, streams: bool = True) -> Iterator[ModelServer]:
    server = ModelServer(lines, streams=streams)
    try:
        yield server
    finally:
        server.close()


def anthropic_whole(line: Line) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": line.text}] if line.text else []
    content += [
        {"type": "tool_use", "id": f"t{n}", "name": name, "input": given} for n, (name, given) in enumerate(line.calls)
    ]
    return {"type": "message", "role": "assistant", "content": content, "usage": _anthropic_usage(line)}


def anthropic_events(line: Line) -> list[bytes]:
    start = {"id": "m1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    usage = {"input_tokens": line.tokens[0], "output_tokens": 1}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**start, "usage": usage}}]
    for index, part in enumerate(anthropic_whole(line)["content"]):
        is_text = part["type"] == "text"
        block = {**part, "text": ""} if is_text else {**part, "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        kind, key, whole = (
            ("text_delta", "text", part["text"])
            if is_text
            else ("input_json_delta", "partial_json", json.dumps(part["input"]))
        )
        halves = (whole[: len(whole) // 2], whole[len(whole) // 2 :])
        deltas = [{"type": kind, key: half} for half in halves]
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append(
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": line.tokens[1]}}
    )
    events.append({"type": "message_stop"})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def openai_whole(line: Line) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": line.text or None}
    if line.calls:
        message["tool_calls"] = [_openai_call(n, name, given) for n, (name, given) in enumerate(line.calls)]
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": _openai_usage(line)}


def openai_events(line: Line) -> list[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": half} for half in (line.text[:3], line.text[3:]) if half]
    for number, (name, given) in enumerate(line.calls):
        call = _openai_call(number, name, given)
        text = call["function"]["arguments"]
        deltas.append({"tool_calls": [{**call, "index": number, "function": {"name": name, "arguments": text[:4]}}]})
        deltas.append({"tool_calls": [{"index": number, "function": {"arguments": text[4:]}}]})
    events: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": _openai_usage(line)})
    said = [f"data: {json.dumps(event)}\n\n".encode() for event in events[:-1]]
    return [*said, f"data: {json.dumps(events[-1])}\n\ndata: [DONE]\n\n".encode()]


def _openai_call(number: int, name: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"t{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}


def _openai_usage(line: Line) -> dict[str, int]:
    return {"prompt_tokens": line.tokens[0], "completion_tokens": line.tokens[1]}


def _anthropic_usage(line: Line) -> dict[str, int]:
    return {"input_tokens": line.tokens[0], "output_tokens": line.tokens[1]}
