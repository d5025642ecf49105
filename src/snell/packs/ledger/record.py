"""
Record every tool call once.

Why      Transcripts do not tell what the agent did yesterday, which calls failed and how long they took.
What     Input, output, duration, status, what it may change, which agent and session; redacted, after the reply.
Instead  `snell ledger list`, `show`, `stats` and `export` show it. `[pack.ledger] enabled = false` records nothing.
"""

import time
from typing import Any

import msgspec

from snell.model.context import Context
from snell.model.events import Event
from snell.model.protocols import Transaction
from snell.packs.ledger.call_description import (
    Body,
    CallDescription,
    CallIdentity,
    agent_of,
    began_at,
    body_of,
    claimed_key,
    correlation_of,
    describe_call,
    error_of,
    existing_paths,
    identify_call,
    identify_call_with_effort,
    in_own_run,
    preview_of,
    was_interrupted,
)
from snell.packs.ledger.policies import rules_for
from snell.records import claims, crash_points, ledger, resume
from snell.records.claims import Receipt
from snell.records.ledger import LONGEST_BODY, Call, End
from snell.sdk.decorators import watches
from snell.system.wall_clock import now_ms
from snell.work import runs


@watches("PreToolUse", batches=True)
def record_start(event: Event, context: Context) -> None:
    """Record a call that is about to run, or was refused."""
    if context.database is None:
        return
    seen = _look_at_call(event, context)
    _started[seen.identity.call_id] = _steady_ms()
    if len(_started) > MOST_CLOCKS:
        del _started[next(iter(_started))]
    crash_points.notify("before row")
    context.database.run(lambda tx: _insert_call(tx, seen))
    crash_points.notify("after row")


class _SeenCall(msgspec.Struct, frozen=True):
    """One event of a call, with what is determined before the transaction begins."""

    event: Event
    context: Context
    identity: CallIdentity
    effects: CallDescription
    request: Body


def _look_at_call(event: Event, context: Context) -> _SeenCall:
    identity = identify_call_with_effort(event, context)
    effects = describe_call(event, identity.tool, rules_for(context).rules, context)
    return _SeenCall(event, context, identity, effects, _body(event.payload.get("tool_input"), context, "keep_input"))


def _body(value: object, context: Context, option: str) -> Body:
    options = context.options
    return body_of(value, options.get("most_characters", LONGEST_BODY)) if options.get(option) else Body("", 0)


def _insert_call(tx: Transaction, seen: _SeenCall) -> None:
    run, verdict = runs.find(tx, seen.identity.run_id), seen.context.verdict
    if run and began_at(seen.context) < run.created_at and not seen.context.env.get("SNELL_RUN_ID"):  # its row is late
        run, seen = None, msgspec.structs.replace(seen, identity=in_own_run(seen.identity, seen.event))
    identity, key = seen.identity, claimed_key(seen.identity)
    call = _new_call(tx, seen, key, run)
    ledger.begin(tx, msgspec.structs.replace(call, status="prepared" if verdict in ("ask", "defer") else "running"))
    if verdict != "deny":
        if run:
            _note_in_run(tx, call, run)
    elif not _has_happened(tx, identity, key):
        ledger.finish(tx, call, End(status="denied", at=now_ms(), duration_ms=0))
        claims.release(tx, identity.run_id, key, identity.call_id)


def _has_happened(tx: Transaction, identity: CallIdentity, key: str) -> bool:
    """Return whether the refused call is the second delivery of one that succeeded, which keeps its key."""
    held = claims.holder(tx, identity.run_id, key)
    if held is None or held.tool_call_id != identity.call_id:
        return False
    return held.status == "succeeded" or claims.receipt_of(tx, identity.call_id) is not None


@watches("PostToolUse", "PostToolUseFailure", batches=True)
def record_end(event: Event, context: Context) -> None:
    """Record the end of a call."""
    if context.database is None:
        return
    seen = _look_at_call(event, context)
    answer = event.payload.get("error") if event.name == "PostToolUseFailure" else event.tool_response
    response = _body(answer, context, "keep_output")
    crash_points.notify("before settling")
    context.database.run(lambda tx: _settle_call(tx, seen, response))
    crash_points.notify("after settling")


def _settle_call(tx: Transaction, seen: _SeenCall, response: Body) -> None:
    event, context = seen.event, seen.context
    at, failed = began_at(context), error_of(event)
    measured: Any = event.payload.get("duration_ms")
    took = int(measured) if type(measured) in (int, float) and measured >= 0 else None
    seen = msgspec.structs.replace(seen, identity=_with_call_id(tx, event, seen.identity))
    identity = seen.identity
    known = ledger.find(tx, identity.call_id)
    key = known.idempotency_key if known and known.idempotency_key else claimed_key(identity)
    if known and known.normalized_args_hash:
        call = known
    else:  # a row that was added from the decision gets its details, by which it is known whether it has side effects
        started = known.started_at if known else at - (took or 0)
        found = _new_call(tx, seen, key, runs.find(tx, identity.run_id))
        kept = {"created_at": known.created_at, "decision_id": known.decision_id} if known else {}
        call = msgspec.structs.replace(found, status="running", started_at=started, **kept)
        ledger.begin(tx, call)
    steady = _corrected_duration(identity.call_id, at - call.started_at)
    status = "succeeded" if failed is None else "failed"
    end = End(
        status=status,
        at=at,
        duration_ms=steady if took is None else took,
        response_ref=ledger.put_body(tx, response.text, at=at, size=response.size),
        external_correlation_id=correlation_of(event.tool_response),
        error_code="" if failed is None else "interrupted" if was_interrupted(event) else "error",
        error_detail=failed or "",
        confirmed=_json(existing_paths(seen.effects.paths, event.cwd)) if failed is None else "[]",
    )
    receipt = claims.receipt_of(tx, identity.call_id)
    if receipt is None:
        preview = preview_of(event, failed) if context.options.get("mode") == "durable" else ""
        receipt = Receipt(tool_call_id=identity.call_id, run_id=identity.run_id, at=at, status=status, body=preview)
    resume.settle(tx, call, receipt, key, end)
    if failed is not None and _needs_person(call, context):
        runs.wait_for_human(tx, call.run_id, at, f"`{call.raw_tool_name}` failed, and may have done something")


def _needs_person(call: Call, context: Context) -> bool:
    """Return whether the run has to wait after this call failed."""
    if context.options.get("wait_after_failure") == "any":
        return call.has_side_effects
    return call.replay_policy == "REPLAY_EXACT"


@watches("PermissionDenied", batches=True)
def record_refusal(event: Event, context: Context) -> None:
    """Record that the client or its user refused a call."""
    if context.database is None or not event.tool_use_id:
        return
    identity = identify_call(event, context)

    def settle(tx: Transaction) -> None:
        call = ledger.find(tx, identity.call_id)
        if call:
            ledger.finish(tx, call, End(status="denied", at=now_ms(), duration_ms=0, error_code="permission"))
        claims.release(tx, identity.run_id, call.idempotency_key if call else claimed_key(identity), identity.call_id)

    context.database.run(settle)


@watches("SessionStart", matcher="startup|resume", when={"mode": "audit"}, batches=True)
def mark_abandoned_calls(event: Event, context: Context) -> None:
    """Mark the open calls of an earlier process as abandoned."""
    if context.database is not None:
        run_id = identify_call(event, context).run_id
        context.database.run(lambda tx: resume.resume(tx, run_id, now_ms()))


def _new_call(tx: Transaction, seen: _SeenCall, key: str, run: runs.Run | None) -> Call:
    event, identity, classified = seen.event, seen.identity, seen.effects.found
    at = began_at(seen.context)
    step = runs.step_at(tx, identity.run_id, at) if run else None
    return Call(
        tool_call_id=identity.call_id,
        run_id=identity.run_id,
        step_id=step.step_id if step else "",
        created_at=at,
        updated_at=at,
        started_at=at,
        raw_tool_name=identity.tool.raw,
        tool_name=identity.tool.name,
        tool_namespace=identity.tool.namespace,
        side_effect_class=classified.side_effects,
        replay_policy=classified.replay,
        policy_matched=int(bool(classified.rule)),
        policy_rule_id=classified.rule,
        normalized_args_hash=identity.hashed,
        idempotency_key=key,
        attempt=_attempt_number(tx, identity),
        request_ref=ledger.put_body(tx, seen.request.text, at=at, size=seen.request.size),
        session_id=identity.session_id,
        agent_id=agent_of(event),
        client=event.client,
        effort=identity.effort,
        decision_id=seen.context.decision_id if event.name == "PreToolUse" else "",
        intent=_json(list(seen.effects.paths)),
    )


def _with_call_id(tx: Transaction, event: Event, identity: CallIdentity) -> CallIdentity:
    """Find the call that ends, for a client that does not number its calls: the last open one like it."""
    if event.tool_use_id:
        return identity
    call = ledger.newest_open(tx, identity.run_id, identity.tool.raw, identity.hashed)
    return msgspec.structs.replace(identity, call_id=call.tool_call_id) if call else identity


def _attempt_number(tx: Transaction, identity: CallIdentity) -> int:
    sql = (
        "SELECT COUNT(*) FROM tool_calls WHERE idempotency_key = ? AND status IN ('failed',"
        " 'abandoned_on_resume') AND tool_call_id <> ?"
    )
    return 1 + int(tx.rows(sql, identity.key, identity.call_id)[0][0])


def _note_in_run(tx: Transaction, call: Call, run: runs.Run) -> None:
    step = runs.step_at(tx, call.run_id, call.created_at) or runs.next_step(tx, call.run_id, call.created_at)
    kind = "pre_side_effect" if call.has_side_effects else "pre_read_only"
    runs.checkpoint(tx, run, step.step_id, kind, call.created_at, {"tool_call_id": call.tool_call_id})


def _json(value: list[str]) -> str:
    return msgspec.json.encode(value).decode()


MOST_CLOCKS = 4_096
LARGEST_DRIFT_MS = 60_000  # between two clocks that are both right
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_started: dict[str, int] = {}  # by call, the oldest first


def _corrected_duration(call_id: str, by_wall_clock: int) -> int | None:
    """Return the milliseconds by CLOCK_BOOTTIME if the wall clock was set meanwhile; else None."""
    started = _started.pop(call_id, None)
    if started is None:
        return None
    took = _steady_ms() - started
    return took if abs(took - by_wall_clock) > LARGEST_DRIFT_MS else None


def _steady_ms() -> int:
    return time.clock_gettime_ns(_CLOCK) // 1_000_000
