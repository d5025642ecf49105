"""Release a tool call that holds its idempotency key, so that it can be repeated."""

from collections.abc import Mapping
from typing import Any

from snell.model.errors import SnellError
from snell.model.protocols import Transaction
from snell.records import claims, ledger, lost_ledger
from snell.records.ledger import End
from snell.runtime.app import Runtime
from snell.system.wall_clock import now_ms

Arguments = Mapping[str, Any]


def release(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    wanted = str(arguments.get("id") or "")
    if runtime.database is None:
        raise SnellError("this runtime has no database")
    return runtime.database.run(lambda tx: _release(tx, wanted, runtime))


def _release(tx: Transaction, wanted: str, runtime: Runtime) -> dict[str, Any]:
    if wanted == "lost":
        return {"id": wanted, "released": lost_ledger.acknowledge_loss(tx)}
    found = ledger.find_by_prefix(tx, wanted)
    if len(found) != 1:
        what = "several calls match" if found else "no call matches"
        raise SnellError(f"{what} `{wanted}`", advice="`snell ledger list` shows the ids")
    call = found[0]
    held = claims.holder(tx, call.run_id, call.idempotency_key)
    is_held = held is not None and held.tool_call_id == call.tool_call_id
    ledger.finish(tx, call, End(status="abandoned_on_resume", at=now_ms(), duration_ms=0, error_code="released"))
    claims.release(tx, call.run_id, call.idempotency_key, call.tool_call_id)
    if is_held and runtime.audit_log:
        runtime.audit_log.note_release(tx, call.tool_call_id)
    return {"id": call.tool_call_id, "released": is_held}


COMMANDS = {"ledger.release": release}
