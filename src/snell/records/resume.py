"""
What a run finds when it is resumed: receipts that were not settled are, calls of which nobody heard again are
abandoned. Nothing is made again here; an abandoned call is one of which nobody knows whether it happened.
"""

from msgspec import Struct

from snell.model.protocols import Transaction
from snell.records import claims, ledger
from snell.records.claims import Claim, Receipt
from snell.records.ledger import Call, End


class Resumed(Struct, frozen=True):
    """The ids of calls: whose success is known after all, which failed, and of which nothing is known."""

    promoted: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def resume(tx: Transaction, run_id: str, now: int) -> Resumed:
    """Settle what was left open. To be called once nobody of the earlier process can report any more."""
    promoted: list[str] = []
    failed: list[str] = []
    unknown: list[str] = []
    known = {claim.tool_call_id: claim for claim in claims.open_claims(tx, run_id)}
    for claim in known.values():
        ledger.begin_unless_known(tx, _from_claim(claim))
    for call in ledger.open_calls(tx, run_id):
        claim = known.get(call.tool_call_id) or Claim(
            run_id=run_id, key=call.idempotency_key, tool_call_id=call.tool_call_id
        )
        receipt = claims.receipt_of(tx, call.tool_call_id)
        if receipt:
            settle(tx, call, receipt, claim.key)
            (promoted if receipt.status == "succeeded" else failed).append(call.tool_call_id)
            continue
        ledger.finish(tx, call, End(status="abandoned_on_resume", at=now, duration_ms=0, error_code="unknown"))
        claims.settle(tx, run_id, claim.key, "abandoned_on_resume")
        unknown.append(call.tool_call_id)
    return Resumed(tuple(promoted), tuple(failed), tuple(unknown))


def settle(tx: Transaction, call: Call, receipt: Receipt, key: str, end: End | None = None) -> None:
    """Make a receipt the end of its call, all at once: the row, the claim, and the receipt gone."""
    end = end or End(
        status=receipt.status, at=receipt.at, error_detail=receipt.body if receipt.status == "failed" else ""
    )
    ledger.finish(tx, call, end)
    if receipt.status == "succeeded" and call.has_side_effects:
        claims.settle(tx, call.run_id, key, "succeeded", receipt.body)
    else:
        claims.release(tx, call.run_id, key, call.tool_call_id)
    claims.clear_receipt(tx, call.tool_call_id)


def only_claimed(tx: Transaction, limit: int, run_id: str = "") -> list[Call]:
    """Calls of which there is a claim and no row: they are being made, or their process was killed."""
    return [_from_claim(claim) for claim in claims.claims_without_call(tx, limit, run_id)]


def _from_claim(claim: Claim) -> Call:
    """What is left of a call whose process ended before more than its claim was written."""
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
