"""Import the new complete lines of a transcript as messages of a session."""

import os
import stat
from collections.abc import Callable
from typing import Any

import msgspec

from snell.model.protocols import Database, Transaction
from snell.work import messages, sessions
from snell.work.errors import WorkError
from snell.work.rows import Record

MOST = 4_000_000  # bytes per call; the next call reads the rest
_NONE: Record = {"ingested": 0, "offset": 0}


def ingest(database: Database, session_id: int, path: str | None, clean: Callable[[Any], Any]) -> Record:
    """Add new messages and return their number. A missing file or an unknown session gives zeros."""
    try:
        session = database.run(lambda tx: sessions.get(tx, session_id))
    except WorkError:
        return dict(_NONE)
    path = path or session["transcriptPath"] or ""
    data, start = _new_bytes(path, session["transcriptOffset"] if path == session["transcriptPath"] else 0)
    lines = data[: data.rfind(b"\n") + 1]
    rows = [row for line in lines.split(b"\n") if (row := _message(line, clean))]
    end = start + len(lines)
    database.run(lambda tx: _store(tx, session_id, path, rows, end))
    return {"ingested": len(rows), "offset": end}


def _store(tx: Transaction, session_id: int, path: str, rows: list[tuple[str, str, str | None]], end: int) -> None:
    for role, content, tool in rows:
        messages.append(tx, session_id, role, content, tool)
    sessions.set_transcript(tx, session_id, path, end)


def _new_bytes(path: str, offset: int) -> tuple[bytes, int]:
    """Return the bytes after the offset; a file that became shorter was replaced and is read from its start."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b"", offset
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            return b"", offset
        start = offset if offset <= found.st_size else 0
        file.seek(start)
        return file.read(MOST), start


def _message(line: bytes, clean: Callable[[Any], Any]) -> tuple[str, str, str | None] | None:
    try:
        row = msgspec.json.decode(line) if line.strip() else None
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(row, dict) or not isinstance(row.get("type"), str):
        return None
    return row["type"], msgspec.json.encode(clean(row)).decode(), _tool_in(row)


def _tool_in(row: dict[str, Any]) -> str | None:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    names = (each.get("name") for each in blocks if each.get("type") == "tool_use")
    return next((name for name in names if isinstance(name, str)), None)
