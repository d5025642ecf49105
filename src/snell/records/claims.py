"""
Claims and receipts of tool calls in durable mode: the tables `tool_claims` and `tool_receipts`.

A call claims its idempotency key before its reply is sent, so that the same side effect never happens twice; its
receipt is written before the reply to its end is sent.

    claim (prepared) -> the tool runs -> receipt -> settled: succeeded, failed or denied
                                      \\-> outcome unknown: abandoned_on_resume
"""

from typing import Literal

from msgspec import Struct

from snell.model.protocols import Database, Transaction
from snell.model.tables import Table
from snell.records.lost_ledger import LOST

Held = Literal["prepared", "succeeded", "abandoned_on_resume"]


class Claim(Struct, frozen=True, kw_only=True):
    run_id: str
    key: str
    tool_call_id: str
    tool: str = ""
    decision_id: str = ""
    at: int = 0
    status: str = "prepared"
    preview: str = ""
    place: str = ""  # the directory of a shell call: the same line in another directory is another call


class Receipt(Struct, frozen=True, kw_only=True):
    """The result of a tool, until its call is settled."""

    tool_call_id: str
    run_id: str
    at: int
    status: str  # succeeded or failed
    body: str  # the first characters, redacted


_CLAIMS = Table("tool_claims", Claim, renamed={"key": "idempotency_key"})
_RECEIPTS = Table("tool_receipts", Receipt, renamed={"at": "created_at"})
_ONCE = "ON CONFLICT (run_id, idempotency_key) DO NOTHING"
_CLAIM = _CLAIMS.insert(_ONCE)
_RECEIPT = _RECEIPTS.insert("ON CONFLICT (tool_call_id) DO NOTHING")
_OF_KEY = "WHERE run_id = ? AND idempotency_key = ?"
_UNLESS_LOST = (
    f"INSERT INTO tool_claims ({_CLAIMS.columns})"
    f" SELECT {', '.join('CAST(? AS BIGINT)' if name == 'at' else '?' for name in _CLAIMS.fields)}"
    f" WHERE NOT EXISTS (SELECT 1 FROM meta WHERE name = '{LOST}')"
)
_CLAIM_ALONE = f"{_UNLESS_LOST} {_ONCE}"
_NOT_HELD = f"AND NOT EXISTS (SELECT 1 FROM tool_claims {_OF_KEY})"
_CLAIM_IN_DIRECTORY = f"{_UNLESS_LOST} {_NOT_HELD} {_ONCE}"


def claim_alone(database: Database, wanted: Claim, key_in_place: str = "") -> bool:
    """
    Claim a key with one statement, since a client waits; returns whether this call holds it now.

    Fails after a loss of the ledger, and while the same call holds a key of its directory: then more must be checked.
    """
    if key_in_place:
        return database.do(_CLAIM_IN_DIRECTORY, *_CLAIMS.values(wanted), wanted.run_id, key_in_place) == 1
    return database.do(_CLAIM_ALONE, *_CLAIMS.values(wanted)) == 1


def claim(tx: Transaction, wanted: Claim) -> Claim | None:
    """Claim a key; returns None, or the claim of the call that holds it."""
    if tx.do(_CLAIM, *_CLAIMS.values(wanted)) == 1:
        return None
    return holder(tx, wanted.run_id, wanted.key)


def holder(tx: Transaction, run_id: str, key: str) -> Claim | None:
    return _CLAIMS.first(tx, _OF_KEY, run_id, key)


def take_over(tx: Transaction, wanted: Claim) -> None:
    """Take a key from a call that ended without an effect, or that the user released."""
    release(tx, wanted.run_id, wanted.key)
    claim(tx, wanted)


def release(tx: Transaction, run_id: str, key: str, tool_call_id: str = "") -> None:
    """Release a key; with `tool_call_id` only if that call holds it."""
    owner, values = (" AND tool_call_id = ?", [tool_call_id]) if tool_call_id else ("", [])
    tx.do(f"DELETE FROM tool_claims {_OF_KEY}{owner}", run_id, key, *values)


def settle(tx: Transaction, run_id: str, key: str, status: Held, preview: str = "") -> None:
    tx.do(f"UPDATE tool_claims SET status = ?, preview = ? {_OF_KEY}", status, preview, run_id, key)


def put_receipt(database: Database | Transaction, receipt: Receipt) -> None:
    """Store a receipt with one statement, since a client waits."""
    database.do(_RECEIPT, *_RECEIPTS.values(receipt))


def receipt_of(tx: Transaction, tool_call_id: str) -> Receipt | None:
    return _RECEIPTS.first(tx, "WHERE tool_call_id = ?", tool_call_id)


def clear_receipt(tx: Transaction, tool_call_id: str) -> None:
    tx.do("DELETE FROM tool_receipts WHERE tool_call_id = ?", tool_call_id)


def open_claims(tx: Transaction, run_id: str) -> list[Claim]:
    """Return the claims of a run whose calls have not ended."""
    return _CLAIMS.read(tx, "WHERE run_id = ? AND status = 'prepared' ORDER BY at, idempotency_key", run_id)


def claims_without_call(tx: Transaction, limit: int, run_id: str = "") -> list[Claim]:
    """Return the newest claims, of one run or of all, whose calls have no row in the ledger yet."""
    missing = "NOT EXISTS (SELECT 1 FROM tool_calls t WHERE t.tool_call_id = tool_claims.tool_call_id)"
    of_run, values = ("run_id = ? AND ", [run_id]) if run_id else ("", [])
    return _CLAIMS.read(tx, f"WHERE {of_run}status = 'prepared' AND {missing} ORDER BY at DESC LIMIT ?", *values, limit)


def claims_without_owner(tx: Transaction, limit: int = 100) -> list[str]:
    """Return the ids of calls with a claimed success that are not in the ledger, or that never held this key."""
    own = "t.tool_call_id = c.tool_call_id AND t.idempotency_key IN ('', c.idempotency_key)"
    sql = (
        "SELECT c.tool_call_id FROM tool_claims c WHERE c.status = 'succeeded' AND NOT EXISTS"
        f" (SELECT 1 FROM tool_calls t WHERE {own}) ORDER BY c.at, c.idempotency_key LIMIT ?"
    )
    return [str(row[0]) for row in tx.rows(sql, limit)]
