"""
A memory that a newer one corrects stays, and steps back: it counts for less, and says by which one it was corrected.

Nothing is deleted, since two texts that differ in a number may be about two things.
"""

from typing import Any

import msgspec

from snell.memory.types import Memory
from snell.model.protocols import Transaction

MARK = "superseded_by"
LESS = 0.5  # of its importance


def is_superseded(memory: Memory) -> bool:
    return bool(memory.metadata.get(MARK))


def is_marked(tx: Transaction, memory_id: str) -> bool:
    """The same, of one that has not been read."""
    return bool(_metadata(tx, memory_id).get(MARK))


def mark_superseded(tx: Transaction, older: str, newer: str) -> None:
    """The older one steps back behind the newer one."""
    _marked(tx, older, newer)


def undo_superseded(tx: Transaction, memory_id: str, said_at: int) -> None:
    """What was corrected is said again, later than its correction: now that one steps back."""
    newer = _metadata(tx, memory_id).get(MARK)
    if not isinstance(newer, str):
        return
    found = tx.rows("SELECT updated_at FROM memories WHERE id = ?", newer)
    if found and said_at <= found[0][0]:
        return
    _marked(tx, memory_id, "")
    tx.do("UPDATE memories SET updated_at = ? WHERE id = ?", said_at, memory_id)
    _marked(tx, newer, memory_id)


def _marked(tx: Transaction, memory_id: str, newer: str) -> None:
    metadata = _metadata(tx, memory_id)
    if bool(metadata.pop(MARK, "")) == bool(newer):
        return
    if newer:
        metadata[MARK] = newer
    factor = LESS if newer else 1 / LESS
    sql = "UPDATE memories SET metadata = ?, importance = importance * ? WHERE id = ?"
    tx.do(sql, msgspec.json.encode(metadata).decode(), factor, memory_id)
    tx.do("UPDATE memories SET importance = 1.0 WHERE id = ? AND importance > 1.0", memory_id)


def _metadata(tx: Transaction, memory_id: str) -> dict[str, Any]:
    found = tx.rows("SELECT metadata FROM memories WHERE id = ?", memory_id)
    return dict(msgspec.json.decode(found[0][0])) if found else {}
