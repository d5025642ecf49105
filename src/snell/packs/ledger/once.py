"""
No side effect twice.

Why      An agent that was interrupted, or that lost its context, sends the same mail again.
What     In durable mode a call is claimed before it runs. The same call again is refused with what the first one
         brought; one that failed may be tried again; of one that nobody heard of again a person decides.
Instead  `snell ledger release ID` frees a call; a rule in `ledger.toml` lets a tool be repeated.
"""

from msgspec.structs import replace

from snell.model.context import Context
from snell.model.effects import Ask, Deny, Note, Tell
from snell.model.errors import StoreError
from snell.model.events import Event
from snell.model.protocols import Database, Transaction
from snell.packs.ledger.call_description import NamedCall, describe_call, error_of, name_call, preview_of
from snell.packs.ledger.claimed_keys import hold
from snell.packs.ledger.policies import Rules, rules_for
from snell.records import claims, crash_points, lost_ledger, resume
from snell.records.claims import Claim, Receipt
from snell.records.resume import ResumeResult
from snell.records.side_effects import Rule
from snell.sdk.decorators import informs, judges
from snell.system.wall_clock import now_ms

LONG_AGO_MS = 600_000  # no client lets a tool run for longer


@judges("PreToolUse", when={"mode": "durable"}, on_failure="block")
def once(event: Event, context: Context) -> Deny | Ask | None:
    """Claim a call, or refuse it."""
    if context.database is None:
        return _closed("there is no database")
    rules = rules_for(context)
    if rules.problem:
        return _closed(rules.problem)
    which = name_call(event, context)
    crash_points.notify("before claim")
    try:
        answer = _claimed(context.database, event, context, which, rules)
    except StoreError as error:
        return _closed(str(error))
    crash_points.notify("after claim")
    return answer


@informs("PostToolUse", "PostToolUseFailure", when={"mode": "durable"})
def receipt(event: Event, context: Context) -> Tell | None:
    """Keep what a call brought before anybody acts on it."""
    if context.database is None or not event.tool_use_id:
        return None
    which = name_call(event, context)
    failed = error_of(event)
    status, body = "succeeded" if failed is None else "failed", preview_of(event, failed)
    kept = Receipt(tool_call_id=which.call_id, run_id=which.run_id, at=now_ms(), status=status, body=body)
    crash_points.notify("before receipt")
    try:
        claims.put_receipt(context.database, kept)
    except StoreError as error:
        return Tell(f"the ledger could not keep what `{which.tool.raw}` brought: {error}")
    crash_points.notify("after receipt")
    return None


@informs("SessionStart", matcher="startup|resume", when={"mode": "durable"})
def resumed(event: Event, context: Context) -> Note | Tell | None:
    """Settle what an earlier process left open, and say what nobody knows."""
    if context.database is None:
        return None
    which = name_call(event, context)
    try:
        found, lost = context.database.run(lambda tx: _taken_up(tx, event, which))
    except StoreError as error:
        return Tell(f"the ledger cannot be used, so no tool will run: {error}")
    if lost:
        return Tell(f"the ledger was lost: {lost}. Look what was done, then end this with `snell ledger release lost`")
    if not found.unknown:
        return None
    ids = ", ".join(each.rpartition("/")[2] for each in found.unknown[:10])
    return Note(
        f"Of {len(found.unknown)} earlier tool calls nobody knows whether they happened ({ids})."
        " Look before you repeat one of them; you will be asked."
    )


def _taken_up(tx: Transaction, event: Event, which: NamedCall) -> tuple[ResumeResult, str]:
    lost = lost_ledger.lost_ledger(tx)
    if lost and event.payload.get("source") == "startup" and which.run_id == which.session_id:
        lost_ledger.record_new_run(tx, which.run_id)
    return resume.resume(tx, which.run_id, now_ms()), lost


def _claimed(database: Database, event: Event, context: Context, which: NamedCall, known: Rules) -> Deny | Ask | None:
    rules = known.rules
    starts_anew = event.kind == "agent" or (known.may_relaunch and _relaunches(event, which, rules, context))
    key = which.with_nonce() if starts_anew else which.key
    if before := hold(which, key):
        # Its input was rewritten since it was first looked at.
        database.run(lambda tx: claims.release(tx, which.run_id, before, which.call_id))
    wanted = _claim(which, key, context)
    if claims.claim_alone(database, wanted, which.key_in_place()):
        return None
    return database.run(lambda tx: _contested(tx, wanted, event, which, context, rules))


def _contested(
    tx: Transaction, wanted: Claim, event: Event, which: NamedCall, context: Context, rules: tuple[Rule, ...]
) -> Deny | Ask | None:
    if (lost := lost_ledger.loss_for_run(tx, which.run_id)) and _happens_once(event, which, context, rules):
        return _forgotten(which, lost)
    wanted = _in_its_place(tx, wanted, which)
    other = claims.claim(tx, wanted)
    if other is None:
        return None
    if other.tool_call_id == which.call_id:
        return _delivered_again(tx, other, which) if _happens_once(event, which, context, rules) else None
    return _on_a_repeat(tx, wanted, other, event, which, context, rules)


def _in_its_place(tx: Transaction, wanted: Claim, which: NamedCall) -> Claim:
    """The same line in another directory gets a key of that directory."""
    if not which.place or wanted.key != which.key:
        return wanted
    key = which.key_in_place()
    first = claims.holder(tx, which.run_id, which.key)
    if claims.holder(tx, which.run_id, key) is None and (first is None or first.place == which.place):
        return wanted
    hold(which, key)
    return replace(wanted, key=key)


def _delivered_again(tx: Transaction, held: Claim, which: NamedCall) -> Deny | None:
    """The call that holds the key, once more: while it runs it is itself, and what it did it does not do again."""
    came = claims.receipt_of(tx, held.tool_call_id)
    if held.status == "succeeded" or (came and came.status == "succeeded"):
        return _done_already(which, came.body if came else held.preview)
    return None


def _on_a_repeat(
    tx: Transaction,
    wanted: Claim,
    other: Claim,
    event: Event,
    which: NamedCall,
    context: Context,
    rules: tuple[Rule, ...],
) -> Deny | Ask | None:
    if not _happens_once(event, which, context, rules):
        again = _claim(which, which.with_nonce(), context)
        hold(which, again.key)
        claims.claim(tx, again)
        return None
    came = claims.receipt_of(tx, other.tool_call_id) if other.status == "prepared" else None
    if other.status == "succeeded" or (came and came.status == "succeeded"):
        return _done_already(which, came.body if came else other.preview)
    if came or _was_refused(tx, other):
        claims.take_over(tx, wanted)
        return None
    if other.status == "prepared" and abs(wanted.at - other.at) < LONG_AGO_MS:
        return _still_running(which, other)
    claims.take_over(tx, wanted)
    return Ask(
        f"`{which.tool.raw}` was called like this before, and nobody knows whether it happened; look, then decide"
    )


def _happens_once(event: Event, which: NamedCall, context: Context, rules: tuple[Rule, ...]) -> bool:
    return describe_call(event, which.tool, rules, context).found.replay == "REPLAY_EXACT"


def _forgotten(which: NamedCall, lost: str) -> Deny:
    return Deny(
        f"the ledger was lost, so nobody knows whether `{which.tool.raw}` was called like this before: {lost}",
        instead="tell the user; a person looks what was done, and then ends this with `snell ledger release lost`",
    )


def _done_already(which: NamedCall, preview: str) -> Deny:
    brought = f" It brought: {preview}" if preview else ""
    return Deny(
        f"`{which.tool.raw}` was called with this input before and succeeded, so it is not done twice.{brought}",
        instead="go on with what it brought; change the input if you mean something else",
    )


def _still_running(which: NamedCall, other: Claim) -> Deny:
    return Deny(
        f"the same call of `{which.tool.raw}` is still running",
        instead="wait for it; if it was refused or interrupted, a person frees it with"
        f" `snell ledger release {other.tool_call_id}`",
    )


def _closed(why: str) -> Deny:
    return Deny(
        f"the ledger cannot write this call down, and in durable mode nothing runs without that: {why}",
        instead='tell the user; `[pack.ledger] mode = "audit"` lets calls run without it',
    )


def _claim(which: NamedCall, key: str, context: Context) -> Claim:
    return Claim(
        run_id=which.run_id,
        key=key,
        tool_call_id=which.call_id,
        tool=which.tool.raw,
        decision_id=context.decision_id,
        at=now_ms(),
        place=which.place,
    )


def _relaunches(event: Event, which: NamedCall, rules: tuple[Rule, ...], context: Context) -> bool:
    return describe_call(event, which.tool, rules, context).found.replay == "RELAUNCH"


def _was_refused(tx: Transaction, other: Claim) -> bool:
    """Another hook denied that call after it was claimed."""
    found = tx.rows("SELECT verdict FROM decisions WHERE id = ?", other.decision_id)
    return bool(found) and found[0][0] == "deny"
