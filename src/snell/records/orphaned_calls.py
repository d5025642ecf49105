"""
Find tool calls that were decided but are not in the ledger, and add them.

They are missing if the process was killed, or the database locked, before they were written. The row of a decision is
written before its reply is sent and says whether the ledger needs a row for it, so that row can be added later: with
the time, the tool and the verdict.
"""

from collections.abc import Sequence

from snell.model.protocols import Transaction
from snell.model.tables import get_meta_number, put_meta
from snell.records import decisions, ledger
from snell.records.decisions import Row
from snell.records.idempotency import identity_of
from snell.records.ledger import Call, End
from snell.records.retention import DAY_MS, DECISION_DAYS

AT_ONCE = 50  # calls in a transaction, since other writers wait for it
PAGE = 1_000
COMPARED = "ledger_compared"  # in `meta`: the last decision up to which no call was missing


def add_missing_calls(tx: Transaction, rows: Sequence[Row]) -> int:
    """
    Insert the call of each decision that needs one and has none; returns how many.

    INVARIANT: a call in the audit chain was written before and deleted since; adding it would hide that.
    """
    missing = [row for row in _filter_without_call(tx, rows) if not ledger.is_chained(tx, call_id(row))]
    for row in missing:
        call = _call(row)
        ledger.insert_if_missing(tx, call)
        if row.verdict == "deny":
            ledger.finish(tx, call, End(status="denied", at=row.at, duration_ms=0))
    return len(missing)


def catch_up(tx: Transaction, up_to: int) -> bool:
    """Add some of the missing calls, oldest first; returns whether there are more decisions to compare."""
    found = decisions.without_call(tx, last_compared(tx), up_to, AT_ONCE)
    add_missing_calls(tx, found)
    is_more = len(found) == AT_ONCE
    store_compared(tx, found[-1].seq if is_more else up_to)
    return is_more


def last_compared(tx: Transaction) -> int:
    """Return the `seq` of the decision up to which calls and decisions were compared."""
    return get_meta_number(tx, COMPARED)


def store_compared(tx: Transaction, seq: int) -> None:
    if seq > last_compared(tx):
        put_meta(tx, COMPARED, str(seq))


def find_orphans(tx: Transaction, now: int) -> list[Row]:
    """
    Return every decision that needs a row in the ledger and has none, oldest first.

    Decisions and calls expire at the same age, but not in the same transaction, so the last day before is not compared.
    """
    last, newest, since = 0, decisions.newest_seq(tx), now - (DECISION_DAYS - 1) * DAY_MS
    orphans: list[Row] = []
    while found := decisions.without_call(tx, last, newest, PAGE, since):
        orphans += _filter_without_call(tx, found)
        last = found[-1].seq
    return orphans


def _filter_without_call(tx: Transaction, rows: Sequence[Row]) -> list[Row]:
    """Return the decisions that need a row in the ledger and have none."""
    return [row for row in rows if row.in_ledger and ledger.find(tx, call_id(row)) is None]


def call_id(row: Row) -> str:
    """Return the id of a decision's call: `SESSION/NUMBER`, with the decision's id if the client sent no number."""
    return f"{_safe_id(row.session_id)}/{_safe_id(row.tool_use_id) or row.id}"


def _call(row: Row) -> Call:
    tool, session = identity_of(row.tool), _safe_id(row.session_id)
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


def _safe_id(text: str) -> str:
    """Return an id as the ledger stores it. The journal has replaced most unusual ids in the same way."""
    return text if text.startswith("#") else ledger.safe_id(text)
