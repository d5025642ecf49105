"""
Calls that were decided and are not in the ledger: the process was killed, or the database locked, before they were
written.

The row of a decision is kept before its answer leaves, and says whether the ledger keeps that call. So a missing row of
the ledger can be written later: when the call began, which tool it was, and how it was answered.
"""

from collections.abc import Iterable, Iterator, Sequence

from snell.model.meta_table import put_meta
from snell.model.protocols import Transaction
from snell.records import decisions, ledger
from snell.records.call_ids import safe
from snell.records.decisions import Row
from snell.records.idempotency import identity_of
from snell.records.ledger import Call, End
from snell.records.retention import DAY_MS, DECISION_DAYS

AT_ONCE = 50  # calls in a transaction, since others wait for it
PAGE = 1_000
COMPARED = "ledger_compared"  # in `meta`: up to which decision nothing was missing when that was last looked at


def write_down(tx: Transaction, rows: Sequence[Row]) -> int:
    """Begin a call for every one of these decisions that needs one and has none; returns how many."""
    missing = [row for row in lacking_call(tx, rows) if not _was_there(tx, row)]
    for row in missing:
        call = _call(row)
        ledger.begin_unless_known(tx, call)
        if row.verdict == "deny":
            ledger.finish(tx, call, End(status="denied", at=row.at, duration_ms=0))
    return len(missing)


def catch_up(tx: Transaction, up_to: int) -> bool:
    """Write down some of the missing calls, the oldest first; returns whether there are more decisions to look at."""
    found = decisions.without_call(tx, last_compared(tx), up_to, AT_ONCE)
    write_down(tx, found)
    is_more = len(found) == AT_ONCE
    note_compared(tx, found[-1].seq if is_more else up_to)
    return is_more


def last_compared(tx: Transaction) -> int:
    """Up to which decision calls and decisions were compared."""
    found = tx.rows("SELECT value FROM meta WHERE name = ?", COMPARED)
    return int(found[0][0]) if found else 0


def note_compared(tx: Transaction, seq: int) -> None:
    if seq > last_compared(tx):
        put_meta(tx, COMPARED, str(seq))


def missing(tx: Transaction, now: int) -> list[Row]:
    """
    Every decision that needs a row of the ledger and has none, the oldest first.

    Decisions and calls expire at the same age, but not in the same transaction: the last day before is not compared.
    """
    return lacking_call(tx, _every(tx, since=now - (DECISION_DAYS - 1) * DAY_MS))


def lacking_call(tx: Transaction, rows: Iterable[Row]) -> list[Row]:
    """Those of these decisions that need a row of the ledger and have none."""
    return [row for row in rows if row.in_ledger and ledger.find(tx, call_id(row)) is None]


def call_id(row: Row) -> str:
    """What the call of this decision is called. A call that its client did not number goes by its decision."""
    return f"{_known(row.session_id)}/{_known(row.tool_use_id) or row.id}"


def _every(tx: Transaction, since: int) -> Iterator[Row]:
    last, newest = 0, decisions.newest_seq(tx)
    while found := decisions.without_call(tx, last, newest, PAGE, since):
        yield from found
        last = found[-1].seq


def _was_there(tx: Transaction, row: Row) -> bool:
    """INVARIANT: a call that is in the audit chain was written before. It was deleted, which is not to be hidden."""
    return bool(tx.rows("SELECT 1 FROM audit_chain WHERE record_id = ? AND kind = 'opened'", call_id(row)))


def _call(row: Row) -> Call:
    tool, session = identity_of(row.tool), _known(row.session_id)
    return Call(
        tool_call_id=call_id(row),
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
