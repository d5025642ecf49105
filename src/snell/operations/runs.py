"""Start, show, cancel, approve and finish runs, and queue a call to be made again."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import to_builtins
from msgspec.json import encode

from snell.model.errors import SnellError
from snell.model.events import persistent_scope
from snell.model.protocols import T, Transaction
from snell.records import decisions, replays
from snell.runtime.app import Runtime
from snell.settings.builtin_packs import builtin_packs
from snell.system.wall_clock import now_ms
from snell.work import runs
from snell.work.runs import Run

Arguments = Mapping[str, Any]
LARGEST = 1_000_000


def start(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    options = builtin_packs()["runs"].options
    most = {name: _number(arguments, name, int(options[name])) for name in ("minutes", "steps", "calls")}
    session = _session(runtime, arguments)
    now = now_ms()
    run = Run(
        run_id=str(arguments.get("run") or f"run-{now:x}-{os.urandom(3).hex()}"),
        created_at=now,
        updated_at=now,
        run_spec=encode({"objective": str(arguments.get("objective") or "")}).decode(),
        session_id=session,
        max_minutes=most["minutes"],
        max_steps=most["steps"],
        max_calls=most["calls"],
    )
    if not _transact(runtime, lambda tx: runs.start(tx, run)):
        raise SnellError(f"run `{run.run_id}` already exists", advice="choose another name")
    if session:
        runtime.store.put(persistent_scope(session), runs.MARK, run.run_id)
    return to_builtins(run)  # type: ignore[no-any-return] # a dict, since Run is a Struct


def list_(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> list[dict[str, Any]]:
    return [to_builtins(run) for run in _transact(runtime, runs.recent)]


def show(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    run = _run(runtime, arguments)
    kept = _transact(runtime, lambda tx: runs.checkpoints(tx, run.run_id))
    return {**to_builtins(run), "checkpoints": [{"step": a, "kind": b, "snapshot": c} for a, b, c in kept]}


def cancel(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    run, reason = _run(runtime, arguments), str(arguments.get("reason") or "")
    return {"run": run.run_id, "changed": _transact(runtime, lambda tx: runs.cancel(tx, run.run_id, now_ms(), reason))}


def approve(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    run = _run(runtime, arguments)
    return {"run": run.run_id, "changed": _transact(runtime, lambda tx: runs.approve(tx, run.run_id, now_ms()))}


def finish(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    run = _run(runtime, arguments)
    changed = _transact(runtime, lambda tx: runs.finish(tx, run.run_id, now_ms(), "succeeded"))
    return {"run": run.run_id, "changed": changed}


def replay(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    run, call = _run(runtime, arguments), str(arguments.get("call") or "")
    return {"run": run.run_id, "changed": _transact(runtime, lambda tx: replays.queue(tx, run.run_id, call))}


def _run(runtime: Runtime, arguments: Arguments) -> Run:
    wanted = str(arguments.get("run") or "")
    if not wanted:
        newest = _transact(runtime, lambda tx: runs.recent(tx, 1))
        if not newest:
            raise SnellError("no runs yet", advice="start one with `snell runs start`")
        return newest[0]
    run = _transact(runtime, lambda tx: runs.find(tx, wanted))
    if run is None:
        raise SnellError(f"unknown run `{wanted}`", advice="`snell runs list` shows the ids")
    return run


def _session(runtime: Runtime, arguments: Arguments) -> str:
    named = arguments.get("session")
    if isinstance(named, str) and named:
        return named
    row = _transact(runtime, lambda tx: decisions.find(tx))
    return row.session_id if row else ""


def _number(arguments: Arguments, name: str, usual: int) -> int:
    value = arguments.get(name)
    if value is None:
        return usual
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST:
        raise SnellError(f"`{name}` must be a number from 1 to {LARGEST:,}")
    return value


def _transact(runtime: Runtime, work: Callable[[Transaction], T]) -> T:
    if runtime.database is None:
        raise SnellError("this runtime has no database")
    return runtime.database.run(work)


COMMANDS = {
    "runs.start": start,
    "runs.list": list_,
    "runs.show": show,
    "runs.cancel": cancel,
    "runs.approve": approve,
    "runs.finish": finish,
    "runs.replay": replay,
}
