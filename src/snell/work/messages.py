"""Read and write the messages of a session, from its transcript and from hooks."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from snell.model.events import as_table, as_tables
from snell.model.protocols import Database, Transaction
from snell.system.json_input import json_or_none
from snell.system.transcripts import lines_since
from snell.work import sessions
from snell.work.errors import WorkError
from snell.work.rows import Record, WorkTable, now_ms

MESSAGES = WorkTable("messages", "id session_id role content tool_name timestamp", "message")
MOST = 4_000_000  # bytes of a transcript per call; the next call reads the rest


def append(
    tx: Transaction,
    session_id: int,
    role: str,
    content: str,
    tool_name: str | None = None,
    timestamp: int | None = None,
) -> Record:
    sessions.get(tx, session_id)
    given = {"session_id": session_id, "role": role, "content": content, "tool_name": tool_name}
    return MESSAGES.insert(tx, **given, timestamp=timestamp or now_ms())


def upsert(
    tx: Transaction,
    session_id: int,
    role: str,
    content: str,
    tool_name: str | None = None,
    timestamp: int | None = None,
) -> Record:
    """Append a message unless the same one exists."""
    known = MESSAGES.matching(tx, "id LIMIT 1", session_id=session_id, role=role, content=content)
    return known[0] if known else append(tx, session_id, role, content, tool_name, timestamp)


def list_(tx: Transaction, session_id: int, limit: int = 1000, role: str | None = None) -> list[Record]:
    """Return messages, oldest first."""
    return MESSAGES.matching(tx, f"timestamp, id LIMIT {int(limit)}", session_id=session_id, role=role)


def ingest(database: Database, session_id: int, path: str | None, clean: Callable[[Any], Any]) -> Record:
    """Add the new complete lines of a transcript as messages; zeros for a missing file or an unknown session."""
    try:
        session = database.run(lambda tx: sessions.get(tx, session_id))
    except WorkError:
        return {"ingested": 0, "offset": 0}
    path = path or session["transcriptPath"] or ""
    end = session["transcriptOffset"] if path == session["transcriptPath"] else 0
    lines: list[tuple[bytes, int]] = []
    with suppress(OSError, ValueError):
        lines = list(lines_since(path, end, MOST, MOST))
    rows = [row for line, _ in lines if (row := _message(line, clean))]
    end = lines[-1][1] if lines else end
    database.run(lambda tx: _store(tx, session_id, path, rows, end))
    return {"ingested": len(rows), "offset": end}


def _store(tx: Transaction, session_id: int, path: str, rows: list[tuple[str, str, str | None]], end: int) -> None:
    for role, content, tool in rows:
        append(tx, session_id, role, content, tool)
    sessions.set_transcript(tx, session_id, path, end)


def _message(line: bytes, clean: Callable[[Any], Any]) -> tuple[str, str, str | None] | None:
    row = json_or_none(line)
    if not isinstance(row, dict) or not isinstance(row.get("type"), str):
        return None
    return row["type"], msgspec.json.encode(clean(row)).decode(), _tool_in(row)


def _tool_in(row: dict[str, Any]) -> str | None:
    blocks = as_tables(as_table(row.get("message")).get("content"))
    names = (each.get("name") for each in blocks if each.get("type") == "tool_use")
    return next((name for name in names if isinstance(name, str)), None)
