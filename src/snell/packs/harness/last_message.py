"""Find the agent's last message: from the event if the client sends it, else from the end of the transcript."""

import json
import os
from collections.abc import Iterator
from typing import Any

from snell.model.events import Event
from snell.sdk.subjects import Turn

TAIL = 262_144


def last_message(turn: Turn, event: Event) -> str:
    """Return the agent's last message; empty if it is unknown."""
    return turn.last_message or _from_transcript(event.transcript_path)


def _from_transcript(path: str) -> str:
    """Return the last text of the assistant in a transcript of JSON lines."""
    for line in _lines_from_the_end(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if text := _assistant_text(row):
            return text
    return ""


def _lines_from_the_end(path: str) -> Iterator[bytes]:
    if not path or not os.path.isfile(path):
        return
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            data = file.read(TAIL)
    except OSError:
        return
    lines = data.split(b"\n")
    yield from reversed(lines[1:] if size > TAIL else lines)


def _assistant_text(row: Any) -> str:
    if not isinstance(row, dict) or "assistant" not in (row.get("type"), row.get("role")):
        return ""
    message = row.get("message", row)
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
