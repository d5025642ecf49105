"""Start, show, cancel, approve and finish runs, and queue a call to be made again."""

import os
from collections.abc import Callable
from typing import Annotated

from msgspec import to_builtins
from msgspec.json import encode

from snell.model.errors import SnellError
from snell.model.events import persistent_scope
from snell.operations.declaration import Answer, Call, about, operation
from snell.records import decisions
from snell.system.wall_clock import now_ms
from snell.work import runs
from snell.work.runs import Run

LARGEST = 1_000_000
RunId = Annotated[str, about("the run's id (default: the last)", word=True)]


@operation("runs.start", verb=True, permission="writes", person=True)
def start(
    call: Call,
    run: Annotated[str, about("the run's id (default: a new one)", word=True)] = "",
    session: Annotated[str, about("the session that works on it (default: the last)")] = "",
    minutes: Annotated[int, about("the time budget in minutes (default: 90)", ge=1, le=LARGEST)] | None = None,
    steps: Annotated[int, about("the budget of prompts (default: 50)", ge=1, le=LARGEST)] | None = None,
    calls: Annotated[int, about("the budget of tool calls (default: 250)", ge=1, le=LARGEST)] | None = None,
    tokens: Annotated[int, about("the budget of tokens, but for those read from the cache", ge=1)] | None = None,
    objective: Annotated[str, about("the goal of the run")] = "",
) -> Answer:
    """Start a run."""
    from snell.settings.packs import builtin_packs

    usual = builtin_packs()["runs"].options
    now, session = now_ms(), session or _last_session(call)
    made = Run(
        run_id=run or f"run-{now:x}-{os.urandom(3).hex()}",
        created_at=now,
        updated_at=now,
        run_spec=encode({"objective": objective, **({"tokens": tokens} if tokens else {})}).decode(),
        session_id=session,
        max_minutes=minutes or int(usual["minutes"]),
        max_steps=steps or int(usual["steps"]),
        max_calls=calls or int(usual["calls"]),
    )
    if not call.database.run(lambda tx: runs.start(tx, made)):
        raise SnellError(f"run `{made.run_id}` already exists", advice="choose another name")
    if session:
        call.runtime.store.put(persistent_scope(session), runs.MARK, made.run_id)
    return dict(to_builtins(made))


@operation("runs.list", verb=True)
def list_(call: Call) -> list[Answer]:
    """List the newest runs."""
    return [to_builtins(run) for run in call.database.run(runs.recent)]


@operation("runs.show", verb=True)
def show(call: Call, run: RunId = "") -> Answer:
    """Show a run and its checkpoints."""
    found = _find(call, run)
    kept = call.database.run(lambda tx: runs.checkpoints(tx, found.run_id))
    tokens = call.runtime.store.get(f"run:{found.run_id}", runs.TOKENS) or {}
    checkpoints = [{"step": a, "kind": b, "snapshot": c} for a, b, c in kept]
    return {**to_builtins(found), **tokens, "checkpoints": checkpoints}


@operation("runs.cancel", verb=True, permission="writes", person=True)
def cancel(call: Call, run: RunId = "", reason: Annotated[str, about("the reason, shown to the agent")] = "") -> Answer:
    """Cancel a run: the tools of its sessions are refused."""
    return _change(call, run, lambda tx, id_: runs.cancel(tx, id_, now_ms(), reason))


@operation("runs.approve", verb=True, permission="writes", person=True)
def approve(call: Call, run: RunId = "") -> Answer:
    """Let a waiting run continue."""
    return _change(call, run, lambda tx, id_: runs.approve(tx, id_, now_ms()))


@operation("runs.finish", verb=True, permission="writes", person=True)
def finish(call: Call, run: RunId = "") -> Answer:
    """Finish a run."""
    return _change(call, run, lambda tx, id_: runs.finish(tx, id_, now_ms(), "succeeded"))


@operation("runs.replay", verb=True, permission="writes", person=True)
def replay(call: Call, run: RunId = "", call_: Annotated[str, about("the call to make again")] = "") -> Answer:
    """Queue a call to be made again."""
    from snell.records import replays

    return _change(call, run, lambda tx, id_: replays.queue(tx, id_, call_))


def _change(call: Call, run: str, change: Callable[..., bool]) -> Answer:
    found = _find(call, run)
    return {"run": found.run_id, "changed": call.database.run(lambda tx: change(tx, found.run_id))}


def _find(call: Call, wanted: str) -> Run:
    if not wanted:
        newest = call.database.run(lambda tx: runs.recent(tx, 1))
        if not newest:
            raise SnellError("no runs yet", advice="start one with `snell runs start`")
        return newest[0]
    run = call.database.run(lambda tx: runs.find(tx, wanted))
    if run is None:
        raise SnellError(f"unknown run `{wanted}`", advice="`snell runs list` shows the ids")
    return run


def _last_session(call: Call) -> str:
    row = call.database.run(lambda tx: decisions.find(tx))
    return row.session_id if row else ""
