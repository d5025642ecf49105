"""
Read the last part of a conversation, or what is new in it, from the transcript of a client.

The path comes with the event, and the event may be wrong: only regular files of the user that look like a transcript
are read, no link is followed, and lines that are not messages are left out.
"""

import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO

from snell.model.events import text_of
from snell.system.files import is_own_file
from snell.system.json_input import json_or_none

LONGEST_LINE = 1_048_576
MOST_BYTES = 64 * 1024 * 1024  # per read
_CHUNK = 1_048_576
_TAIL = 400_000  # bytes from the end
_ENDINGS = (".jsonl", ".json")
_ROLES = ("user", "assistant")


def conversation(path: str, most: int) -> list[dict[str, str]]:
    """Return the last messages, oldest first, of at most `most` characters; none if the file is not a transcript."""
    found: list[dict[str, str]] = []
    left = most
    for message in filter(None, map(_message, reversed(_lines(path)))):
        left -= len(message["text"])
        if left < 0:
            break
        found.append(message)
    return found[::-1]


def tail_of(path: str) -> list[bytes]:
    """Return the last lines of a transcript, unparsed; none if the file is not a transcript."""
    return [line for line in _lines(path) if line.strip()]


def lines_since(
    path: str, offset: int, most: int = MOST_BYTES, longest: int = LONGEST_LINE
) -> Iterator[tuple[bytes, int]]:
    """
    Yield each complete line after the offset, and the offset after it. A file that has become shorter is read anew.

    An overlong line is yielded as no bytes, so that the caller can count it.
    INVARIANT: the offset moves past a line only when that line was returned or is too long to be a message. A line that
    is still being written, and what exceeds the limit, is read the next time.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return
        offset = offset if offset <= found.st_size else 0
        file.seek(offset)
        until = offset + most
        while offset < until:
            line = file.readline(longest + 1)
            if not line:
                return
            length = len(line)
            if not line.endswith(b"\n"):
                if length <= longest:
                    return  # still being written
                rest = _rest_of_line(file)
                if rest < 0:
                    return
                line, length = b"", length + rest
            offset += length
            yield line, offset


def is_readable(path: str) -> bool:
    """Whether this is a transcript that may be read."""
    return path.endswith(_ENDINGS) and os.path.isabs(path) and is_own_file(path)


def _lines(path: str) -> list[bytes]:
    if not is_readable(path):
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


def _rest_of_line(file: BinaryIO) -> int:
    """Return the length of the rest of an overlong line; -1 when it has no end yet."""
    length = 0
    while chunk := file.readline(_CHUNK):
        length += len(chunk)
        if chunk.endswith(b"\n"):
            return length
    return -1


def _message(line: bytes) -> dict[str, str] | None:
    row = json_or_none(line)
    if not isinstance(row, dict):
        return None
    # Copilot writes `{"type": "assistant.message", "data": {"content": ...}}`.
    inner: dict[str, Any] = next((row[key] for key in ("message", "data") if isinstance(row.get(key), dict)), row)
    role = inner.get("role") or str(row.get("type")).removesuffix(".message")
    text = text_of(inner.get("content"))
    return {"role": str(role), "text": text} if role in _ROLES and text else None
