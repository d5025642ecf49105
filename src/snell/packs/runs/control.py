"""
Keep a run within its limits.

Why      An agent that works alone does not stop: over its time, after it was cancelled, past what a person should see.
What     In a session that works for a run (`snell runs start`, or SNELL_RUN_ID): no tool runs once the run is
         cancelled, waits for a person or has used up its minutes, steps, calls or tokens; a call that has to be
         repeated comes first. One session at a time works for a run, until its turn ends.
Instead  `snell runs approve` continues a waiting run, `snell runs cancel` ends it. Without a run nothing happens.
"""

from contextlib import suppress

import msgspec

from snell.model.context import Context
from snell.model.effects import Deny, Note
from snell.model.errors import StoreError
from snell.model.events import Event, as_table
from snell.model.protocols import Transaction
from snell.records import replays
from snell.records.idempotency import args_hash
from snell.records.replays import Replay
from snell.sdk.decorators import informs, judges
from snell.sdk.subjects import usage_of
from snell.system.wall_clock import now_ms
from snell.work import runs
from snell.work.runs import Run
from snell.work.supervisor_state import take_over

REPLAYING = "runs/replaying"  # of a session: the input was checked the first time
LEASE_MS = 600_000
_RESULTS = ("TaskOutput", "TaskResult")


@judges("PreToolUse")
def check_run(event: Event, context: Context) -> Deny | None:
    """Refuse tools of a run that may not continue."""
    run_id = _run_id(event, context)
    if context.database is None or not run_id:
        return None
    is_named = run_id == context.env.get("SNELL_RUN_ID")
    try:
        tokens = _count_tokens(run_id, event, context)
        refusal, is_replayed = context.database.run(
            lambda tx: _check_call(tx, run_id, event, tokens, is_named=is_named)
        )
    except StoreError as error:
        return Deny(f"run `{run_id}` cannot be read, so none of its tools runs: {error}", instead="tell the user")
    context.marks.put(f"session:{event.session_id}", REPLAYING, is_replayed)
    return refusal


@informs("SessionStart")
def continue_run(event: Event, context: Context) -> None:
    """Let the next window under `snell run` work for the run of the one before, with the same limits."""
    if not take_over(event, context.marks, context.env, runs.MARK) or context.database is None:
        return
    run_id = runs.run_of(event.session_id, context.marks, context.env)
    context.database.run(lambda tx: runs.free(tx, run_id))  # the window that held it has ended


@informs("Stop", "SessionEnd")
def release_run(event: Event, context: Context) -> None:
    """Release the run for other sessions."""
    run_id = _run_id(event, context)
    if context.database is not None and run_id:
        with suppress(StoreError):  # the lease expires by itself
            context.database.run(lambda tx: runs.release(tx, run_id, event.session_id))


@informs("UserPromptSubmit")
def count_step(event: Event, context: Context) -> Note | None:
    """Count each prompt of a run as a step."""
    run_id = _run_id(event, context)
    run = context.database.run(lambda tx: _next_step(tx, run_id)) if context.database is not None and run_id else None
    if run is None:
        return None
    _count_tokens(run_id, event, context)
    if run.steps > 1:
        return None
    tokens = _max_tokens(run)
    budget = f"at most {run.max_minutes} minutes, {run.max_steps} steps and {run.max_calls} tool calls"
    budget += f", and {tokens:,} tokens" if tokens else ""
    return Note(f"This session works for run {run_id}: {budget}.")


def _run_id(event: Event, context: Context) -> str:
    """Return the run that a session works for; empty if it is its own run."""
    run_id = runs.run_of(event.session_id, context.marks, context.env)
    return run_id if run_id != event.session_id else ""


def _max_tokens(run: Run) -> int:
    """Return the budget of tokens; 0 if there is none."""
    found = as_table(msgspec.json.decode(run.run_spec or "{}")).get("tokens")
    return found if isinstance(found, int) else 0


def _count_tokens(run_id: str, event: Event, context: Context) -> str:
    """Count the tokens of this session for the run, if that has a limit; returns the limit if it is used up."""
    run = context.database.run(lambda tx: runs.find(tx, run_id), only_reads=True) if context.database else None
    limit = _max_tokens(run) if run else 0
    usage = usage_of(event) if limit else None
    if run is None or usage is None:
        return ""
    known = as_table(as_table(context.marks.get(f"run:{run_id}", runs.TOKENS)).get("sessions"))
    is_new = event.name == "PreToolUse" and event.session_id != run.session_id  # else it has worked before the run
    begin, _ = known.get(event.session_id) or (0 if is_new else usage.tokens_spent, 0)
    known = {**known, event.session_id: (begin, max(usage.tokens_spent, begin))}
    used = sum(now - before for before, now in known.values())
    context.marks.put(f"run:{run_id}", runs.TOKENS, {"tokens": used, "max_tokens": limit, "sessions": known})
    return f"{limit:,} tokens" if used >= limit else ""


def _check_call(tx: Transaction, run_id: str, event: Event, tokens: str, *, is_named: bool) -> tuple[Deny | None, bool]:
    """Return why this call may not run, and whether it is the repetition of a queued one."""
    run, now = runs.find(tx, run_id), now_ms()
    if run is None:
        # A user who named a run wants its limits to apply.
        return (_unknown(run_id) if is_named else None), False
    if refusal := _refusal(tx, run, event, now, tokens) or _without_lease(tx, run, event, now):
        return refusal, False
    queued = replays.first(tx, run_id)
    refusal = _other_than_queued(tx, queued, event, now) if queued else None
    if refusal is None:
        runs.count_call(tx, run_id)
    return refusal, queued is not None and refusal is None


def _unknown(run_id: str) -> Deny:
    return Deny(
        f"SNELL_RUN_ID names the run `{run_id}`, which does not exist",
        instead="tell the user: `snell runs start NAME` starts one, `snell runs list` lists them",
    )


def _refusal(tx: Transaction, run: Run, event: Event, now: int, tokens: str) -> Deny | None:
    if run.status in ("cancel_requested", "cancelled"):
        why = f": {run.cancel_reason}" if run.cancel_reason else ""
        return Deny(f"run `{run.run_id}` is cancelled{why}", instead="stop now, and say where you are")
    if run.status in runs.ENDED:
        return Deny(f"run `{run.run_id}` has ended ({run.status})", instead="stop now")
    if event.tool_name in _RESULTS or event.tool in _RESULTS:
        runs.wait_for_human(tx, run.run_id, now, "a sub-agent's result was used as a tool")
        return Deny("a sub-agent's result was called as a tool", instead="use the result, or start the sub-agent again")
    if run.status == "waiting_for_human":
        return Deny(
            f"run `{run.run_id}` waits for a person: {run.waiting_for}",
            instead="say what you would do next, and stop; `snell runs approve` lets the run continue",
        )
    if used_up := runs.over_budget(run, now) or tokens:
        runs.finish(tx, run.run_id, now, "failed")
        return Deny(f"run `{run.run_id}` has used up its {used_up}", instead="stop now, and say what is left to do")
    return None


def _without_lease(tx: Transaction, run: Run, event: Event, now: int) -> Deny | None:
    """Refuse a second session: two would do the work of a run twice. A lease is longer than any tool runs."""
    if runs.lease(tx, run.run_id, event.session_id, now, LEASE_MS):
        return None
    return Deny(
        f"session `{run.lease_owner}` is working for run `{run.run_id}`",
        instead="wait until it has stopped, or tell the user: `snell runs approve` lets this session continue",
    )


def _other_than_queued(tx: Transaction, queued: Replay, event: Event, now: int) -> Deny | None:
    """Refuse every call but the queued one, and count it as a failed attempt."""
    tool = event.tool_name or event.tool
    same_input = args_hash(event.payload.get("tool_input"), tool) == queued.normalized_args_hash
    if tool == queued.raw_tool_name and same_input:
        replays.finish_replay(tx, queued)
        return None
    may_continue = replays.count_attempt(tx, queued, now)
    wanted = f"`{queued.raw_tool_name}` has to be repeated first, with the same input ({queued.tool_call_id})"
    if event.kind in ("edit", "write"):
        wanted = f"no file may be changed before that: {wanted}"
    return Deny(wanted, instead="make that call now" if may_continue else "stop now: a person has to check it")


def _next_step(tx: Transaction, run_id: str) -> Run | None:
    if runs.find(tx, run_id) is None:
        return None
    runs.next_step(tx, run_id, now_ms())
    return runs.find(tx, run_id)
