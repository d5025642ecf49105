"""
Calls of a process that was killed after it had answered and before it had written them down.

Its decisions were kept; of each that let a tool run there is to be a call, of which nobody knows yet how it ended.
"""

from collections.abc import Sequence

from snell.model.ports import Transaction
from snell.work import ledger
from snell.work.call_ids import safe
from snell.work.decisions import Row
from snell.work.idempotency import identity_of
from snell.work.ledger import Call, End

LOOKED_BACK = 500  # decisions by which it is told whether a ledger is kept here at all
ENOUGH = 100
_BEFORE_TOOLS = "SELECT id FROM decisions WHERE event = 'PreToolUse' AND tool_use_id <> '' ORDER BY seq DESC LIMIT ?"


def write_down(tx: Transaction, rows: Sequence[Row]) -> int:
    """Begin a call for every one of these decisions that has none; returns how many. The rows are in the database."""
    calls = [(_call(row), row) for row in rows if row.event == "PreToolUse" and row.tool_use_id]
    missing = [(call, row) for call, row in calls if ledger.find(tx, call.tool_call_id) is None]
    if not missing or not _is_kept(tx):
        return 0
    for call, row in missing:
        ledger.begin_unless_known(tx, call)
        if row.verdict == "deny":
            ledger.finish(tx, call, End(status="denied", at=row.at, duration_ms=0))
    return len(missing)


def _is_kept(tx: Transaction) -> bool:
    """A person who switched the ledger off has many decisions, and no call of any of them."""
    recent = [str(row[0]) for row in tx.rows(_BEFORE_TOOLS, LOOKED_BACK)]
    if len(recent) < ENOUGH:
        return True
    blanks = ", ".join("?" for _ in recent)
    return bool(tx.rows(f"SELECT 1 FROM tool_calls WHERE decision_id IN ({blanks}) LIMIT 1", *recent))


def _call(row: Row) -> Call:
    tool, session = identity_of(row.tool), _known(row.session_id)
    return Call(
        tool_call_id=f"{session}/{_known(row.tool_use_id)}",
        run_id=session,
        created_at=row.at,
        updated_at=row.at,
        started_at=row.at,
        raw_tool_name=tool.raw,
        tool_name=tool.name,
        tool_namespace=tool.namespace,
        status="prepared" if row.verdict in ("ask", "defer") else "running",
        session_id=session,
        client=row.client,
        decision_id=row.id,
    )


def _known(text: str) -> str:
    """The journal replaces odd ids in the same way, but for a few that it lets pass."""
    return text if text.startswith("#") else safe(text)
