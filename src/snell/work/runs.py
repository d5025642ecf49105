"""
Read and write runs: work with a budget, over any number of sessions and processes.

A run has steps (one for each prompt or iteration), checkpoints before the first read and before the first change of a
step, and a lease, so that two processes do not drive it at once.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.events import persistent_scope
from snell.model.protocols import Store, Transaction
from snell.model.tables import Table, assignments, blanks

MINUTES, STEPS, CALLS = 90, 50, 250
LEASE_MS = 60_000
MARK = "runs/run"  # the mark of a session, resumed or not, that names its run
ENDED = ("cancelled", "succeeded", "failed")
TOKENS = "runs/tokens"  # the mark of a run with a budget of tokens: how many were used
MINUTE_MS = 60_000


class Run(Struct, frozen=True, kw_only=True):
    run_id: str
    created_at: int = 0
    updated_at: int = 0
    status: str = "running"
    run_spec: str = "{}"
    mode: str = ""
    parent_run_id: str = ""
    session_id: str = ""
    provider_session_id: str = ""
    lease_owner: str = ""
    lease_expires_at: int = 0
    heartbeat_at: int = 0
    cancel_requested_at: int = 0
    cancel_reason: str = ""
    waiting_for: str = ""
    iteration_count: int = 0
    max_iterations: int = 10
    completion_promise: str = ""
    max_minutes: int = MINUTES
    max_steps: int = STEPS
    max_calls: int = CALLS
    steps: int = 0
    calls: int = 0
    finished_at: int = 0


_RUNS = Table("runs", Run)
_INSERT = _RUNS.insert("ON CONFLICT (run_id) DO NOTHING")


def start(tx: Transaction, run: Run) -> bool:
    """Insert a run; False if its id exists."""
    return tx.do(_INSERT, *_RUNS.values(run)) == 1


def find(tx: Transaction, run_id: str) -> Run | None:
    return _RUNS.first(tx, "WHERE run_id = ?", run_id)


def recent(tx: Transaction, limit: int = 20) -> list[Run]:
    return _RUNS.read(tx, "ORDER BY created_at DESC, run_id DESC LIMIT ?", limit)


def change(tx: Transaction, run_id: str, now: int, only_if: str = "1 = 1", **changes: Any) -> bool:
    """Set some fields of a run, if it exists and a condition in SQL holds."""
    sets = assignments({**changes, "updated_at": now})
    return tx.do(f"UPDATE runs SET {sets} WHERE run_id = ? AND {only_if}", *changes.values(), now, run_id) == 1


def cancel(tx: Transaction, run_id: str, now: int, reason: str = "") -> bool:
    """Request that a run ends: none of its tools runs any more. Returns False for a run that has ended."""
    given = {"status": "cancel_requested", "cancel_requested_at": now, "cancel_reason": reason}
    return change(tx, run_id, now, f"status NOT IN {ENDED}", **given)


def wait_for_human(tx: Transaction, run_id: str, now: int, why: str) -> bool:
    given = {"status": "waiting_for_human", "waiting_for": why}
    return change(tx, run_id, now, "status IN ('queued', 'running')", **given)


def approve(tx: Transaction, run_id: str, now: int) -> bool:
    """Let a waiting run continue and free its lease, so that any session can take it."""
    was_held = free(tx, run_id)
    given = {"status": "running", "waiting_for": ""}
    return change(tx, run_id, now, "status = 'waiting_for_human'", **given) or was_held


def finish(tx: Transaction, run_id: str, now: int, status: str) -> bool:
    """End a run; a success after a cancel request becomes `cancelled`. Returns False for a run that has ended."""
    run = find(tx, run_id)
    if run is None or run.status in ENDED:
        return False
    if run.status == "cancel_requested" and status == "succeeded":
        status = "cancelled"
    return change(tx, run_id, now, status=status, finished_at=now, lease_owner="", lease_expires_at=0)


def over_budget(run: Run, now: int) -> str:
    """Return the budget that is used up; empty if none is. A clock that was set back uses no budget."""
    minutes = max(0, now - run.created_at) / MINUTE_MS
    used_up = {
        f"{run.max_minutes} minutes": minutes > run.max_minutes,
        f"{run.max_steps} steps": run.steps > run.max_steps,
        f"{run.max_calls} tool calls": run.calls >= run.max_calls,
    }
    return next((budget for budget, is_used in used_up.items() if is_used), "")


def count_call(tx: Transaction, run_id: str) -> None:
    tx.do("UPDATE runs SET calls = calls + 1 WHERE run_id = ?", run_id)


# Steps and checkpoints


class Step(Struct, frozen=True):
    step_id: str
    run_id: str
    index: int
    status: str = "running"
    phase: str = ""


_STEPS = Table("run_steps", Step, renamed={"index": "step_index"})


def next_step(tx: Transaction, run_id: str, now: int) -> Step:
    """End the open step and begin another one."""
    ended = "UPDATE run_steps SET status = 'succeeded', updated_at = ? WHERE run_id = ? AND status = 'running'"
    tx.do(ended, now, run_id)
    index = int(tx.rows("SELECT COALESCE(MAX(step_index), 0) + 1 FROM run_steps WHERE run_id = ?", run_id)[0][0])
    step = Step(f"{run_id}#{index}", run_id, index)
    columns = f"{_STEPS.columns}, created_at, updated_at, error"
    sql = f"INSERT INTO run_steps ({columns}) VALUES ({blanks(_STEPS.fields)}, ?, ?, '')"
    tx.do(sql, *_STEPS.values(step), now, now)
    change(tx, run_id, now, steps=index)
    return step


def step_at(tx: Transaction, run_id: str, at: int) -> Step | None:
    """Return the step of a time: a row may be written when the next one has begun."""
    return _STEPS.first(tx, "WHERE run_id = ? AND created_at <= ? ORDER BY step_index DESC LIMIT 1", run_id, at)


def checkpoint(tx: Transaction, run: Run, step_id: str, kind: str, now: int, cursor: Any) -> bool:
    """Store the state of a run once for each step and kind; returns whether this was the first time."""
    sql = (
        "INSERT INTO checkpoints (run_id, step_id, checkpoint_type, created_at, snapshot, replay_cursor)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, step_id, checkpoint_type) DO NOTHING"
    )
    snapshot = {"status": run.status, "steps": run.steps, "calls": run.calls, "iteration": run.iteration_count}
    is_first = tx.do(sql, run.run_id, step_id, kind, now, _json(snapshot), _json(cursor)) == 1
    if is_first:
        tx.do("UPDATE run_steps SET phase = ?, updated_at = ? WHERE step_id = ?", kind, now, step_id)
    return is_first


def checkpoints(tx: Transaction, run_id: str) -> list[tuple[str, str, Any]]:
    """Return step, kind and snapshot of each checkpoint, in order."""
    order = "ORDER BY created_at, step_id, checkpoint_type"
    sql = f"SELECT step_id, checkpoint_type, snapshot FROM checkpoints WHERE run_id = ? {order}"
    return [(step, kind, msgspec.json.decode(snapshot)) for step, kind, snapshot in tx.rows(sql, run_id)]


# Leases


def lease(tx: Transaction, run_id: str, owner: str, now: int, length: int = LEASE_MS) -> bool:
    """Take or renew the lease of a run; False while another owner has it."""
    sql = (
        "UPDATE runs SET lease_owner = ?, lease_expires_at = ?, heartbeat_at = ? WHERE run_id = ? AND"
        " (lease_owner = '' OR lease_owner = ? OR lease_expires_at <= ? OR lease_expires_at > ?)"
    )
    # A lease that ends too far in the future was taken before the clock was set back.
    return tx.do(sql, owner, now + length, now, run_id, owner, now, now + max(length, LEASE_MS)) == 1


def release(tx: Transaction, run_id: str, owner: str) -> bool:
    return tx.do(f"{_FREE} AND lease_owner = ?", run_id, owner) == 1


def free(tx: Transaction, run_id: str) -> bool:
    """End the lease of a run, whichever owner has it."""
    return tx.do(f"{_FREE} AND lease_owner <> ''", run_id) == 1


_FREE = "UPDATE runs SET lease_owner = '', lease_expires_at = 0 WHERE run_id = ?"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def run_of(session_id: str, marks: Store, env: Mapping[str, str]) -> str:
    """Return the run of a session: from its environment or a mark; else the session is its own run."""
    named = env.get("SNELL_RUN_ID") or marks.get(persistent_scope(session_id), MARK)
    return named if isinstance(named, str) and named else session_id
