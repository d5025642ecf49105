"""
Keep the database below its size limit: delete the oldest traces, then inputs and outputs, then whole days of records.

Each deletion is chained in the audit log and noted for `snell doctor`. Rows that a shared server does not have yet
stay, and so do the records of today. Freed pages are given back to the file system, a few at a time.
"""

from typing import Protocol

from snell.model.protocols import Transaction
from snell.records import audit_chain, retention
from snell.records.audit_log import AuditLog
from snell.records.retention import CHUNK, DAY_MS, Deleted

MEGABYTE = 1_000_000
ROUNDS = 10  # chunks of one kind in one transaction: other writers wait for it
FREE_BYTES = 16 * MEGABYTE  # free pages that stay in the file, for the next rows
VACUUMED = 512  # pages that are given back at once


class Sent(Protocol):
    """The last rows that a shared server has."""

    decisions: int
    traces: int
    calls: int


class SizeLimit:
    """`shrink` deletes a few rows while the database is larger than `megabytes`."""

    def __init__(self, megabytes: int) -> None:
        self._bytes = megabytes * MEGABYTE

    def shrink(self, tx: Transaction, audit_log: AuditLog, now: int, sent: Sent | None) -> bool:
        """Delete a few of the oldest rows if the database is too large; returns whether it deleted any."""
        used, free = _pages(tx)
        if free > FREE_BYTES:
            tx.rows(f"PRAGMA incremental_vacuum({VACUUMED})")
        done = retention.read_deleted(tx)
        if used <= self._bytes and not _is_within_a_day(tx, done):
            return False
        found = self._delete(tx, audit_log, now, sent, done)
        if found == done:
            return False
        retention.store_deleted(tx, found)
        return True

    def _delete(self, tx: Transaction, audit_log: AuditLog, now: int, sent: Sent | None, done: Deleted) -> Deleted:
        if traces := _delete_traces(tx, sent.traces if sent else None):
            audit_log.note_deleted(tx, audit_chain.TRACES, traces)
            return Deleted(max(done.traces, traces), done.bodies, done.days)
        if bodies := _delete_bodies(tx):
            audit_log.note_deleted(tx, audit_chain.BODIES, bodies)
            return Deleted(done.traces, max(done.bodies, bodies), done.days)
        end = done.days if _is_within_a_day(tx, done) else _end_of_oldest_day(tx)
        if end and end <= now - now % DAY_MS:
            audit_log.forget(tx, end, 0, (sent.decisions, sent.calls) if sent else None)
            return Deleted(done.traces, done.bodies, max(done.days, end))
        return done


def _pages(tx: Transaction) -> tuple[int, int]:
    """Return the bytes of pages in use and of free ones."""
    size, count, free = (int(tx.rows(f"PRAGMA {n}")[0][0]) for n in ("page_size", "page_count", "freelist_count"))
    return (count - free) * size, free * size


def _delete_traces(tx: Transaction, up_to: int | None) -> int:
    """Delete the oldest traces; returns the time before which there may be none any more, 0 if none was deleted."""
    before = 0
    for _ in range(ROUNDS):
        last = "seq < (SELECT MAX(seq) FROM traces) AND seq <= ?"
        oldest = f"SELECT decision_id FROM traces WHERE {last} ORDER BY seq LIMIT {CHUNK}"
        times = tx.rows(f"SELECT MAX(at) FROM decisions WHERE id IN ({oldest})", up_to if up_to is not None else 2**62)
        if times[0][0] is None:
            break
        before = max(before, int(times[0][0]) + 1)
        retention.expire_traces(tx, now=before, days=0, up_to=up_to)
    return before


def _delete_bodies(tx: Transaction) -> int:
    """Delete the oldest inputs and outputs; returns the time before which they are gone, 0 if none was deleted."""
    oldest = f"SELECT MAX(created_at) FROM (SELECT created_at FROM tool_bodies ORDER BY created_at LIMIT {CHUNK})"
    before = tx.rows(oldest)[0][0]
    if before is None:
        return 0
    for _ in range(ROUNDS):
        retention.expire_bodies(tx, now=int(before) + 1, days=0, with_claims=False)
    return int(before) + 1


def _end_of_oldest_day(tx: Transaction) -> int:
    """Return the end of the day, in UTC, of the oldest record; 0 if there is none."""
    oldest = tx.rows("SELECT at FROM decisions ORDER BY seq LIMIT 1")
    return (int(oldest[0][0]) // DAY_MS + 1) * DAY_MS if oldest else 0


def _is_within_a_day(tx: Transaction, done: Deleted) -> bool:
    """Return whether the deletion of a day has begun and is not complete: a day is deleted as a whole."""
    return 0 < _end_of_oldest_day(tx) <= done.days
