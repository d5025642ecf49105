"""
Delete old rows, a few at a time, so that no reply waits for a long deletion.

INVARIANT: the newest row of a table always stays, since the numbers of later rows begin after it.
"""

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction

CHUNK = 100
DAY_MS = 86_400_000
TRACE_DAYS, DECISION_DAYS = 30, 180


def expire_traces(tx: Transaction, *, now: int, days: int = TRACE_DAYS, up_to: int | None = None) -> int:
    """
    Delete at most a hundred of the oldest traces, up to the `seq` in `up_to`; returns how many.

    The folder of a session is kept as long as its decisions, since it is only in the traces.
    """
    oldest = tx.rows(
        "SELECT t.seq, t.decision_id, d.at FROM traces t JOIN decisions d ON d.id = t.decision_id"
        " WHERE t.seq < (SELECT MAX(seq) FROM traces) ORDER BY t.seq LIMIT ?",
        CHUNK,
    )
    ids = _old(oldest, now - days * DAY_MS, up_to)
    _keep_folders(tx, ids)
    return len(_delete(tx, "traces", "decision_id", ids))


def folder_of(tx: Transaction, session_id: str) -> str:
    """Return the folder of a session whose traces were deleted; empty if unknown."""
    found = tx.rows("SELECT value FROM meta WHERE name = ?", _FOLDER + session_id)
    return str(found[0][0]) if found else ""


def expire_decisions(tx: Transaction, *, now: int, days: int = DECISION_DAYS, up_to: int | None = None) -> int:
    """Delete at most a hundred of the oldest decisions, with their traces; returns how many."""
    return len(take_decisions(tx, now=now, days=days, up_to=up_to))


def take_decisions(tx: Transaction, *, now: int, days: int = DECISION_DAYS, up_to: int | None = None) -> list[str]:
    """Delete like `expire_decisions`; returns the ids of the deleted decisions."""
    oldest = tx.rows(
        "SELECT seq, id, at FROM decisions WHERE seq < (SELECT MAX(seq) FROM decisions) ORDER BY seq LIMIT ?", CHUNK
    )
    ids = _old(oldest, now - days * DAY_MS, up_to)
    marks = ", ".join("?" for _ in ids)
    sessions = tx.rows(f"SELECT DISTINCT session_id FROM decisions WHERE id IN ({marks})", *ids) if ids else []
    _delete(tx, "decisions", "id", ids)
    for (session_id,) in sessions:
        if not tx.rows("SELECT 1 FROM decisions WHERE session_id = ? LIMIT 1", session_id):
            tx.do("DELETE FROM meta WHERE name = ?", _FOLDER + session_id)
    return ids


def take_calls(tx: Transaction, *, now: int, days: int = DECISION_DAYS, up_to: int | None = None) -> list[str]:
    """Delete at most a hundred of the oldest tool calls; returns their ids."""
    oldest = tx.rows(
        "SELECT revision, tool_call_id, updated_at FROM tool_calls"
        " WHERE revision < (SELECT MAX(revision) FROM tool_calls) ORDER BY revision LIMIT ?",
        CHUNK,
    )
    return _delete(tx, "tool_calls", "tool_call_id", _old(oldest, now - days * DAY_MS, up_to))


def expire_bodies(tx: Transaction, *, now: int, days: int = TRACE_DAYS) -> int:
    """Delete old claims and at most a hundred of the oldest inputs and outputs; the rows of their calls stay."""
    limit = now - days * DAY_MS
    claims = tx.do("DELETE FROM tool_claims WHERE at < ?", limit)
    return claims + tx.do(
        "DELETE FROM tool_bodies WHERE ref IN (SELECT ref FROM tool_bodies WHERE created_at < ?"
        f" ORDER BY created_at LIMIT {CHUNK})",
        limit,
    )


class _TraceBody(Struct):
    cwd: str = ""


_FOLDER = "folder of session "


def _keep_folders(tx: Transaction, decision_ids: list[str]) -> None:
    marks = ", ".join("?" for _ in decision_ids)
    bodies = (
        tx.rows(
            "SELECT d.session_id, t.body FROM traces t JOIN decisions d ON d.id = t.decision_id"
            f" WHERE t.decision_id IN ({marks}) AND d.session_id <> '' AND t.body <> '' ORDER BY d.seq",
            *decision_ids,
        )
        if decision_ids
        else []
    )
    for session_id, body in bodies:
        if folder := msgspec.json.decode(body, type=_TraceBody).cwd:
            tx.do("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", _FOLDER + session_id, folder)


def _old(oldest: list[tuple[int, str, int]], limit: int, up_to: int | None) -> list[str]:
    return [id_ for seq, id_, at in oldest if at < limit and (up_to is None or seq <= up_to)]


def _delete(tx: Transaction, table: str, column: str, ids: list[str]) -> list[str]:
    if ids:
        tx.do(f"DELETE FROM {table} WHERE {column} IN ({', '.join('?' for _ in ids)})", *ids)
    return ids
