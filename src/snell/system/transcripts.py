"""
Read the last part of a conversation from the transcript of a client.

The path comes with the event, and the event may be wrong: only regular files of the user that look like a transcript
are read, no link is followed, and lines that are not messages are left out.
"""

import os
import stat
from typing import Any

import msgspec

_TAIL = 400_000  # bytes from the end
_ENDINGS = (".jsonl", ".json")
_ROLES = ("user", "assistant")


def conversation(path: str, most: int) -> list[dict[str, str]]:
    """Return the last messages, oldest first, of at most `most` characters; none if the file is not a transcript."""
    found: list[dict[str, str]] = []
    left = most
    for line in reversed(_lines(path)):
        message = _message(line)
        if message is None:
            continue
        left -= len(message["text"])
        if left < 0:
            break
        found.append(message)
    return found[::-1]


def tail_of(path: str) -> list[bytes]:
    """Return the last lines of a transcript, unparsed; none if the file is not a transcript."""
    return [line for line in _lines(path) if line.strip()]


def is_readable(path: str) -> bool:
    """Whether this is a transcript that may be read."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    return (
        stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and path.endswith(_ENDINGS) and os.path.isabs(path)
    )


def _lines(path: str) -> list[bytes]:
    if not path or not is_readable(path):
        return []
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return []
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        file.seek(max(0, size - _TAIL))
        lines = file.read(_TAIL).split(b"\n")
    return lines[1:] if size > _TAIL else lines


def _message(line: bytes) -> dict[str, str] | None:
    try:
        row = msgspec.json.decode(line, type=dict[str, Any]) if line.strip() else {}
    except (msgspec.DecodeError, RecursionError):
        return None
    inner = row.get("message") if isinstance(row.get("message"), dict) else row
    role = inner.get("role") or row.get("type") if isinstance(inner, dict) else None
    text = _text(inner.get("content")) if isinstance(inner, dict) else ""
    return {"role": str(role), "text": text} if role in _ROLES and text else None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
