"""
Statistics of the ledger by tool.

Over all calls they come from `call_totals`, which has the sums of settled calls up to a revision; only newer calls and
those that are not settled are read. A settled call never changes, and a deletion empties the table.
"""

from msgspec import Struct

from snell.model.errors import StoreError
from snell.model.protocols import Database, Transaction
from snell.model.tables import where_given
from snell.records.ledger import SETTLED

STEP = 50_000  # revisions summed in one transaction: a writer waits some 50 ms at most
_SETTLED = f"status IN ({', '.join(map(repr, SETTLED))})"
_SUMS = (
    "raw_tool_name, COUNT(*), COUNT(CASE WHEN status = 'failed' THEN 1 END),"
    " COUNT(CASE WHEN status = 'denied' THEN 1 END), CAST(SUM(duration_ms) AS BIGINT), MAX(duration_ms)"
)
# Each part has an index of its own; `status` in the words of that index.
_PARTS = (
    f"SELECT {_SUMS} FROM tool_calls WHERE revision > ? AND {_SETTLED} GROUP BY raw_tool_name",
    f"SELECT {_SUMS} FROM tool_calls WHERE status IN ('prepared', 'running') GROUP BY raw_tool_name",
    f"SELECT {_SUMS} FROM tool_calls WHERE status = 'abandoned_on_resume' GROUP BY raw_tool_name",
)
# A row without calls has the revision, also where none of those calls is settled.
_NOTE = "INSERT INTO call_totals VALUES ('', 0, 0, 0, 0, 0, ?) ON CONFLICT DO UPDATE SET up_to = excluded.up_to"
_ADD = (
    f"INSERT INTO call_totals SELECT {_SUMS}, ? FROM tool_calls WHERE revision > ? AND revision <= ? AND {_SETTLED}"
    " GROUP BY raw_tool_name ON CONFLICT (raw_tool_name) DO UPDATE SET calls = calls + excluded.calls,"
    " failed = failed + excluded.failed, denied = denied + excluded.denied,"
    " total_ms = total_ms + excluded.total_ms, longest_ms = MAX(longest_ms, excluded.longest_ms)"
)


class ToolStats(Struct, frozen=True):
    """Numbers of calls, failures and denials of a tool, and its times."""

    tool: str
    calls: int
    failed: int
    denied: int
    total_ms: int
    longest_ms: int


def read_stats(database: Database, *, session: str = "", run: str = "", step: int = STEP) -> list[ToolStats]:
    """Return statistics by tool, the most used first: of a session, of a run, or of all calls."""
    if session or run:
        clause, values = where_given({"session_id": session, "run_id": run})
        sql = f"SELECT {_SUMS} FROM tool_calls {clause} GROUP BY raw_tool_name"
        return _sorted_stats(database.run(lambda tx: tx.rows(sql, *values), only_reads=True))
    try:
        while database.run(lambda tx: _extend(tx, step)):
            pass
    except StoreError:
        pass  # a store that is locked or cannot be written is read without new sums
    return _sorted_stats(database.run(_all_rows, only_reads=True))


def _extend(tx: Transaction, step: int) -> bool:
    """Add the next settled calls to the sums; return whether there may be more."""
    if not _has_totals(tx):
        return False
    done = _summed_up_to(tx)
    last = int(tx.rows("SELECT COALESCE(MAX(revision), 0) FROM tool_calls")[0][0])
    if last - done < step:  # reading these is quicker than writing
        return False
    tx.do(_ADD, 0, done, done + step)
    tx.do(_NOTE, done + step)
    return True


def _all_rows(tx: Transaction) -> list[tuple[object, ...]]:
    if not _has_totals(tx):
        return tx.rows(f"SELECT {_SUMS} FROM tool_calls GROUP BY raw_tool_name")
    totals = tx.rows("SELECT raw_tool_name, calls, failed, denied, total_ms, longest_ms FROM call_totals")
    newer, unfinished, abandoned = _PARTS
    return [*totals, *tx.rows(newer, _summed_up_to(tx)), *tx.rows(unfinished), *tx.rows(abandoned)]


def _has_totals(tx: Transaction) -> bool:
    """Return False on a server, and for a file of an earlier version that cannot be written."""
    return tx.dialect == "sqlite" and bool(tx.rows("SELECT 1 FROM sqlite_master WHERE name = 'call_totals'"))


def _summed_up_to(tx: Transaction) -> int:
    return int(tx.rows("SELECT COALESCE(MAX(up_to), 0) FROM call_totals")[0][0])


def _sorted_stats(rows: list[tuple[object, ...]]) -> list[ToolStats]:
    """Add up the rows of each tool."""
    found: dict[str, ToolStats] = {}
    for name, *numbers in rows:
        calls, failed, denied, total, longest = (int(each) for each in numbers)  # type: ignore[call-overload] # sums
        old = found.get(tool := str(name), ToolStats(tool, 0, 0, 0, 0, 0))
        found[tool] = ToolStats(
            tool,
            old.calls + calls,
            old.failed + failed,
            old.denied + denied,
            old.total_ms + total,
            max(old.longest_ms, longest),
        )
    return sorted((each for each in found.values() if each.calls), key=lambda each: (-each.calls, each.tool))
