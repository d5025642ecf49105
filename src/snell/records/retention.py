"""
Delete old rows, a few at a time, so that no reply waits for a long deletion.

INVARIANT: the newest row of a table always stays, since the numbers of later rows begin after it.
"""

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.model.tables import blanks, get_meta, put_meta
from snell.records import row_seals

CHUNK = 100
DAY_MS = 86_400_000
TRACE_DAYS, DECISION_DAYS = 30, 180
_FOLDER = "folder of session "
_DELETED = "deleted at the size limit"


def expire_traces(tx: Transaction, *, now: int, days: int = TRACE_DAYS, up_to: int | None = None) -> int:
    """
    Delete at most a hundred of the oldest traces, up to the `seq` in `up_to`; returns how many.

    The folder of a session is kept as long as its decisions, since it is only in the traces.
    """
    age = "(SELECT at FROM decisions WHERE id = traces.decision_id)"
    ids = _oldest(tx, "traces", "seq", "decision_id", age, now - days * DAY_MS, up_to)
    _keep_folders(tx, ids)
    return len(_delete(tx, "traces", "decision_id", ids))


def folder_of(tx: Transaction, session_id: str) -> str:
    """Return the folder of a session whose traces were deleted; empty if unknown."""
    return get_meta(tx, _FOLDER + session_id)


def expire_decisions(tx: Transaction, *, now: int, days: int = DECISION_DAYS, up_to: int | None = None) -> int:
    """Delete at most a hundred of the oldest decisions, with their traces; returns how many."""
    return len(take_decisions(tx, now=now, days=days, up_to=up_to))


def take_decisions(
    tx: Transaction, *, now: int, days: int = DECISION_DAYS, up_to: int | None = None, key: bytes = b""
) -> list[str]:
    """
    Delete like `expire_decisions`; returns the ids of the deleted decisions.

    With `key` a row that another program changed stays: it may only look old.
    """
    ids = _oldest(tx, "decisions", "seq", "id", "at", now - days * DAY_MS, up_to)
    ids = row_seals.ids_with_valid_seal(tx, key, "decisions", "id", ids)
    sessions = tx.rows(f"SELECT DISTINCT session_id FROM decisions WHERE id IN ({blanks(ids)})", *ids) if ids else []
    _delete(tx, "decisions", "id", ids)
    for (session_id,) in sessions:
        if not tx.rows("SELECT 1 FROM decisions WHERE session_id = ? LIMIT 1", session_id):
            tx.do("DELETE FROM meta WHERE name = ?", _FOLDER + session_id)
    return ids


def take_calls(
    tx: Transaction, *, now: int, days: int = DECISION_DAYS, up_to: int | None = None, key: bytes = b""
) -> list[str]:
    """Delete at most a hundred of the oldest tool calls; returns their ids. `key` as for decisions."""
    ids = _oldest(tx, "tool_calls", "revision", "tool_call_id", "updated_at", now - days * DAY_MS, up_to)
    return _delete(
        tx, "tool_calls", "tool_call_id", row_seals.ids_with_valid_seal(tx, key, "tool_calls", "tool_call_id", ids)
    )


def expire_bodies(tx: Transaction, *, now: int, days: int = TRACE_DAYS, with_claims: bool = True) -> int:
    """Delete old claims and at most a hundred of the oldest inputs and outputs; the rows of their calls stay."""
    limit = now - days * DAY_MS
    oldest = f"SELECT ref FROM tool_bodies WHERE created_at < ? ORDER BY created_at LIMIT {CHUNK}"
    claims = tx.do("DELETE FROM tool_claims WHERE at < ?", limit) if with_claims else 0
    return claims + tx.do(f"DELETE FROM tool_bodies WHERE ref IN ({oldest})", limit)


class Deleted(Struct, frozen=True):
    """The times before which rows were deleted because the database had reached its size limit; 0 if none were."""

    traces: int = 0
    bodies: int = 0
    days: int = 0


def read_deleted(tx: Transaction) -> Deleted:
    try:
        return msgspec.json.decode(get_meta(tx, _DELETED), type=Deleted)
    except msgspec.MsgspecError:
        return Deleted()


def store_deleted(tx: Transaction, deleted: Deleted) -> None:
    put_meta(tx, _DELETED, msgspec.json.encode(deleted).decode())


class _TraceBody(Struct):
    cwd: str = ""


def _keep_folders(tx: Transaction, decision_ids: list[str]) -> None:
    if not decision_ids:
        return
    bodies = tx.rows(
        "SELECT d.session_id, t.body FROM traces t JOIN decisions d ON d.id = t.decision_id WHERE t.decision_id IN"
        f" ({blanks(decision_ids)}) AND d.session_id <> '' AND t.body <> '' ORDER BY d.seq",
        *decision_ids,
    )
    for session_id, body in bodies:
        if folder := msgspec.json.decode(body, type=_TraceBody).cwd:
            tx.do("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", _FOLDER + session_id, folder)


def _oldest(tx: Transaction, table: str, number: str, id_: str, age: str, limit: int, up_to: int | None) -> list[str]:
    """Return the ids of the first rows that are older than a time and not numbered above `up_to`."""
    last = f"(SELECT MAX({number}) FROM {table})"
    sql = f"SELECT {number}, {id_}, {age} FROM {table} WHERE {number} < {last} ORDER BY {number} LIMIT {CHUNK}"
    return [id_ for seq, id_, at in tx.rows(sql) if at < limit and (up_to is None or seq <= up_to)]


def _delete(tx: Transaction, table: str, column: str, ids: list[str]) -> list[str]:
    if ids:
        tx.do(f"DELETE FROM {table} WHERE {column} IN ({blanks(ids)})", *ids)
    return ids
