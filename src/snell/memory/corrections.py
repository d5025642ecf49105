"""
Mark memories that a newer one corrects: they stay, with less importance and the id of the correction.

Nothing is deleted, since two texts that differ in a number may be about two things.
"""

from typing import Any

import msgspec

from snell.memory.types import Memory
from snell.model.protocols import Transaction

MARK = "superseded_by"
FACTOR = 0.5  # of its importance


def is_superseded(memory: Memory) -> bool:
    return bool(memory.metadata.get(MARK))


def is_marked(tx: Transaction, memory_id: str) -> bool:
    """Whether a memory that is not loaded is superseded."""
    return bool(_metadata(tx, memory_id).get(MARK))


def undo_superseded(tx: Transaction, memory_id: str, stated_at: int) -> None:
    """Swap the two if a corrected text is stated again later than its correction."""
    newer = _metadata(tx, memory_id).get(MARK)
    if not isinstance(newer, str):
        return
    found = tx.rows("SELECT updated_at FROM memories WHERE id = ?", newer)
    if found and stated_at <= found[0][0]:
        return
    mark_superseded(tx, memory_id, "")
    tx.do("UPDATE memories SET updated_at = ? WHERE id = ?", stated_at, memory_id)
    mark_superseded(tx, newer, memory_id)


def mark_superseded(tx: Transaction, memory_id: str, newer: str) -> None:
    """Mark a memory as superseded by the newer one; without one, remove the mark."""
    metadata = _metadata(tx, memory_id)
    if bool(metadata.pop(MARK, "")) == bool(newer):
        return
    if newer:
        metadata[MARK] = newer
    factor = FACTOR if newer else 1 / FACTOR
    sql = "UPDATE memories SET metadata = ?, importance = importance * ? WHERE id = ?"
    tx.do(sql, msgspec.json.encode(metadata).decode(), factor, memory_id)
    tx.do("UPDATE memories SET importance = 1.0 WHERE id = ? AND importance > 1.0", memory_id)


def _metadata(tx: Transaction, memory_id: str) -> dict[str, Any]:
    found = tx.rows("SELECT metadata FROM memories WHERE id = ?", memory_id)
    return dict(msgspec.json.decode(found[0][0])) if found else {}
