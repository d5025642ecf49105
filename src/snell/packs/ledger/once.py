"""
Prevent a side effect from happening twice.

Why      An agent that was interrupted, or that lost its context, sends the same mail again.
What     In durable mode a call is claimed before it runs. The same call again is refused with the result of the first
         one; a failed call may be tried again; if it is unknown whether a call happened, a person decides.
Instead  `snell ledger release ID` frees a call; a rule in `ledger.toml` lets a tool be repeated.
"""

from msgspec.structs import replace

from snell.model.context import Context
from snell.model.effects import Ask, Deny, Note, Tell
from snell.model.errors import StoreError
from snell.model.events import Event
from snell.model.protocols import Database, Transaction
from snell.packs.ledger.call_description import (
    CallIdentity,
    describe_call,
    error_of,
    identify_call,
    note_key,
    preview_of,
)
from snell.packs.ledger.policies import Rules, rules_for
from snell.packs.ledger.published import published_version
from snell.records import claims, crash_points, lost_ledger, resume
from snell.records.claims import Claim, Receipt
from snell.records.resume import ResumeResult
from snell.records.side_effects import Rule
from snell.sdk.decorators import informs, judges
from snell.system.wall_clock import now_ms


@judges("PreToolUse", when={"mode": "durable"}, on_failure="block")
def claim_call(event: Event, context: Context) -> Deny | Ask | None:
    """Claim a call, or refuse it."""
    if context.database is None:
        return _write_refusal("there is no database")
    rules = rules_for(context)
    if rules.problem:
        return _write_refusal(rules.problem)
    identity = identify_call(event, context)
    if version := event.command and published_version(event, identity.place, context.env, rules.renewed):
        identity = identity.of_version(version)
    crash_points.notify("before claim")
    try:
        answer = _claim_or_refuse(context.database, event, context, identity, rules)
    except StoreError as error:
        return _write_refusal(str(error))
    crash_points.notify("after claim")
    return answer


@informs("PostToolUse", "PostToolUseFailure", when={"mode": "durable"})
def store_receipt(event: Event, context: Context) -> Tell | None:
    """Store the result of a call before the agent acts on it."""
    if context.database is None or not event.tool_use_id:
        return None
    identity = identify_call(event, context)
    failed = error_of(event)
    status, body = "succeeded" if failed is None else "failed", preview_of(event, failed)
    kept = Receipt(tool_call_id=identity.call_id, run_id=identity.run_id, at=now_ms(), status=status, body=body)
    crash_points.notify("before receipt")
    try:
        claims.put_receipt(context.database, kept)
    except StoreError as error:
        return Tell(f"the ledger could not store the result of `{identity.tool.raw}`: {error}")
    crash_points.notify("after receipt")
    return None


@informs("SessionStart", matcher="startup|resume", when={"mode": "durable"})
def settle_open_calls(event: Event, context: Context) -> Note | Tell | None:
    """Settle the open calls of an earlier process, and name those with an unknown result."""
    if context.database is None:
        return None
    identity = identify_call(event, context)
    try:
        found, lost = context.database.run(lambda tx: _resume(tx, event, identity))
    except StoreError as error:
        return Tell(f"the ledger cannot be used, so no tool will run: {error}")
    if lost:
        return Tell(f"the ledger was lost: {lost}. Check what was done, then run `snell ledger release lost`")
    if not found.unknown:
        return None
    ids = ", ".join(each.rpartition("/")[2] for each in found.unknown[:10])
    return Note(
        f"For {len(found.unknown)} earlier tool calls it is unknown whether they happened ({ids})."
        " Check before you repeat one of them; you will be asked."
    )


def _resume(tx: Transaction, event: Event, identity: CallIdentity) -> tuple[ResumeResult, str]:
    lost = lost_ledger.lost_ledger(tx)
    if lost and event.payload.get("source") == "startup" and identity.run_id == identity.session_id:
        lost_ledger.record_new_run(tx, identity.run_id)
    return resume.resume(tx, identity.run_id, now_ms()), lost


def _claim_or_refuse(
    database: Database, event: Event, context: Context, identity: CallIdentity, known: Rules
) -> Deny | Ask | None:
    rules = known.rules
    starts_anew = event.kind == "agent" or (
        known.may_relaunch and (describe_call(event, identity.tool, rules, context).found.replay == "RELAUNCH")
    )
    key = identity.with_nonce() if starts_anew else identity.key
    if before := note_key(identity, key):
        # Its input was rewritten since it was first claimed.
        database.run(lambda tx: claims.release(tx, identity.run_id, before, identity.call_id))
    wanted = _claim(identity, key, context)
    if claims.claim_alone(database, wanted, identity.key_in_place()):
        return None
    return database.run(lambda tx: _on_conflict(tx, wanted, event, identity, context, rules))


def _on_conflict(
    tx: Transaction, wanted: Claim, event: Event, identity: CallIdentity, context: Context, rules: tuple[Rule, ...]
) -> Deny | Ask | None:
    if (lost := lost_ledger.loss_for_run(tx, identity.run_id)) and _happens_once(event, identity, context, rules):
        return Deny(
            f"the ledger was lost, so it is unknown whether `{identity.tool.raw}` was called like this before: {lost}",
            instead="tell the user, who checks what was done and then runs `snell ledger release lost`",
        )
    wanted = _with_key_of_place(tx, wanted, identity)
    other = claims.claim(tx, wanted)
    if other is None:
        return None
    if other.tool_call_id == identity.call_id:
        return _on_redelivery(tx, other, identity) if _happens_once(event, identity, context, rules) else None
    return _on_repeat(tx, wanted, other, event, identity, context, rules)


def _with_key_of_place(tx: Transaction, wanted: Claim, identity: CallIdentity) -> Claim:
    """Return the claim; the same command in another directory gets a key of that directory."""
    if not identity.place or wanted.key != identity.key:
        return wanted
    key = identity.key_in_place()
    first = claims.holder(tx, identity.run_id, identity.key)
    if claims.holder(tx, identity.run_id, key) is None and (first is None or first.place == identity.place):
        return wanted
    note_key(identity, key)
    return replace(wanted, key=key)


def _on_redelivery(tx: Transaction, held: Claim, identity: CallIdentity) -> Deny | None:
    """Judge a second delivery of the call that holds the key: it may go on, unless it already succeeded."""
    stored = claims.receipt_of(tx, held.tool_call_id)
    if held.status == "succeeded" or (stored and stored.status == "succeeded"):
        return _done_already(identity, stored.body if stored else held.preview)
    return None


def _on_repeat(
    tx: Transaction,
    wanted: Claim,
    other: Claim,
    event: Event,
    identity: CallIdentity,
    context: Context,
    rules: tuple[Rule, ...],
) -> Deny | Ask | None:
    if not _happens_once(event, identity, context, rules):
        again = _claim(identity, identity.with_nonce(), context)
        note_key(identity, again.key)
        claims.claim(tx, again)
        return None
    stored = claims.receipt_of(tx, other.tool_call_id) if other.status == "prepared" else None
    if other.status == "succeeded" or (stored and stored.status == "succeeded"):
        return _done_already(identity, stored.body if stored else other.preview)
    if stored or _was_refused(tx, other):
        claims.take_over(tx, wanted)
        return None
    if other.status == "prepared" and _may_still_run(other, wanted.at, context):
        return Deny(
            f"the same call of `{identity.tool.raw}` is still running",
            instead="wait for it; if it was refused or interrupted, the user frees it with"
            f" `snell ledger release {other.tool_call_id}`",
        )
    claims.take_over(tx, wanted)
    return Ask(
        f"`{identity.tool.raw}` was called like this before, and it is unknown whether it happened; check, then decide"
    )


def _may_still_run(other: Claim, now: int, context: Context) -> bool:
    minutes = context.options.get("running_minutes", 10)  # longer than any client lets a tool run
    return not minutes or abs(now - other.at) < minutes * 60_000


def _happens_once(event: Event, identity: CallIdentity, context: Context, rules: tuple[Rule, ...]) -> bool:
    return describe_call(event, identity.tool, rules, context).found.replay == "REPLAY_EXACT"


def _done_already(identity: CallIdentity, preview: str) -> Deny:
    result = f" Its result: {preview}" if preview else ""
    return Deny(
        f"`{identity.tool.raw}` was called with this input before and succeeded, so it is not done twice.{result}",
        instead="go on with that result; change the input if you mean something else",
    )


def _write_refusal(why: str) -> Deny:
    return Deny(
        f"the ledger cannot record this call, and in durable mode no call runs unless it is recorded: {why}",
        instead='tell the user; `[pack.ledger] mode = "audit"` lets calls run without it',
    )


def _claim(identity: CallIdentity, key: str, context: Context) -> Claim:
    return Claim(
        run_id=identity.run_id,
        key=key,
        tool_call_id=identity.call_id,
        tool=identity.tool.raw,
        decision_id=context.decision_id,
        at=now_ms(),
        place=identity.place,
    )


def _was_refused(tx: Transaction, other: Claim) -> bool:
    """Whether another hook denied that call after it was claimed."""
    found = tx.rows("SELECT verdict FROM decisions WHERE id = ?", other.decision_id)
    return bool(found) and found[0][0] == "deny"
