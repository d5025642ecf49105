"""Read and write the messages of a session, from its transcript and from hooks."""

from snell.model.protocols import Transaction
from snell.work import sessions
from snell.work.rows import Record, now_ms, select

COLUMNS = "id session_id role content tool_name timestamp"


def append(
    tx: Transaction,
    session_id: int,
    role: str,
    content: str,
    tool_name: str | None = None,
    timestamp: int | None = None,
) -> Record:
    sessions.get(tx, session_id)
    ((id_,),) = tx.rows(
        "INSERT INTO messages (session_id, role, content, tool_name, timestamp) VALUES (?, ?, ?, ?, ?) RETURNING id",
        *(session_id, role, content, tool_name, timestamp or now_ms()),
    )
    return select(tx, "messages", COLUMNS, "WHERE id = ?", id_)[0]


def upsert(
    tx: Transaction,
    session_id: int,
    role: str,
    content: str,
    tool_name: str | None = None,
    timestamp: int | None = None,
) -> Record:
    """Append a message unless the same one exists."""
    found = select(
        tx, "messages", COLUMNS, "WHERE session_id = ? AND role = ? AND content = ? LIMIT 1", session_id, role, content
    )
    return found[0] if found else append(tx, session_id, role, content, tool_name, timestamp)


def list_(tx: Transaction, session_id: int, limit: int = 1000, role: str | None = None) -> list[Record]:
    """Return messages, oldest first."""
    where = "WHERE session_id = ?" + (" AND role = ?" if role is not None else "")
    values = (session_id, role) if role is not None else (session_id,)
    return select(tx, "messages", COLUMNS, f"{where} ORDER BY timestamp, id LIMIT ?", *values, limit)
