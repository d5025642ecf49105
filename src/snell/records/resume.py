"""
Settle the open calls of a run that is resumed.

A call with a receipt gets its end from it; a call without one is abandoned: it is unknown whether it happened. No call
is repeated here.
"""

from msgspec import Struct

from snell.model.protocols import Transaction
from snell.records import claims, ledger
from snell.records.claims import Claim, Receipt
from snell.records.ledger import Call, End


class ResumeResult(Struct, frozen=True):
    """The ids of calls that succeeded, that failed, and whose outcome is unknown."""

    promoted: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def resume(tx: Transaction, run_id: str, now: int) -> ResumeResult:
    """Settle open calls. Call it only when the earlier process cannot report any more."""
    promoted, failed, unknown = list[str](), list[str](), list[str]()
    known = {claim.tool_call_id: claim for claim in claims.open_claims(tx, run_id)}
    for claim in known.values():
        ledger.insert_if_missing(tx, _call_from_claim(claim))
    for call in ledger.open_calls(tx, run_id):
        held = known.get(call.tool_call_id)
        key = held.key if held else call.idempotency_key
        receipt = claims.receipt_of(tx, call.tool_call_id)
        if receipt:
            settle(tx, call, receipt, key)
            (promoted if receipt.status == "succeeded" else failed).append(call.tool_call_id)
            continue
        ledger.finish(tx, call, End(status="abandoned_on_resume", at=now, duration_ms=0, error_code="unknown"))
        claims.settle(tx, run_id, key, "abandoned_on_resume")
        unknown.append(call.tool_call_id)
    return ResumeResult(tuple(promoted), tuple(failed), tuple(unknown))


def give_up(tx: Transaction, call: Call, now: int, why: str) -> None:
    """End a call that will not be reported any more, and free its key."""
    ledger.finish(tx, call, End(status="abandoned_on_resume", at=now, duration_ms=0, error_code=why))
    claims.release(tx, call.run_id, call.idempotency_key, call.tool_call_id)


def settle(tx: Transaction, call: Call, receipt: Receipt, key: str, end: End | None = None) -> None:
    """Write the end of a call from its receipt, settle its claim, and delete the receipt."""
    detail = receipt.body if receipt.status == "failed" else ""
    end = end or End(status=receipt.status, at=receipt.at, error_detail=detail)
    ledger.finish(tx, call, end)
    if receipt.status == "succeeded" and call.has_side_effects:
        claims.settle(tx, call.run_id, key, "succeeded", receipt.body)
    else:
        claims.release(tx, call.run_id, key, call.tool_call_id)
    claims.clear_receipt(tx, call.tool_call_id)


def calls_from_claims(tx: Transaction, limit: int, run_id: str = "") -> list[Call]:
    """Return calls with a claim and no row: they are running, or their process was killed."""
    return [_call_from_claim(claim) for claim in claims.claims_without_call(tx, limit, run_id)]


def _call_from_claim(claim: Claim) -> Call:
    """Return the call of a claim, for a process that was killed before it wrote the row."""
    return Call(
        tool_call_id=claim.tool_call_id,
        run_id=claim.run_id,
        created_at=claim.at,
        updated_at=claim.at,
        started_at=claim.at,
        raw_tool_name=claim.tool,
        tool_name=claim.tool,
        idempotency_key=claim.key,
        decision_id=claim.decision_id,
        session_id=claim.tool_call_id.rpartition("/")[0],
    )
