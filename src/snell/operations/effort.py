"""Compound operations: start and resume an effort, write into its log, hand a session over to the next one."""

from collections.abc import Mapping
from typing import Any

from snell.model.protocols import Transaction
from snell.operations.sync import sync_after, sync_around
from snell.operations.work import Arguments, Env, agent_in, database_of, in_transaction, window_in
from snell.redact import redact_data
from snell.runtime.app import Runtime
from snell.work import artefacts, dehydration, effort_commands, lookup, phases, project_moves, sessions
from snell.work.errors import WorkError, invalid
from snell.work.rows import Record, camel_keys


def append_log(runtime: Runtime, arguments: Arguments, env: Env) -> Record:
    """
    Add an entry to the effort's log.

    INVARIANT: the heartbeat is reset only after the entry was written to the disk.
    """
    given = camel_keys(arguments)
    text = given.get("content") or given.get("text")
    if not isinstance(text, str) or not text.strip():
        raise invalid("content: must be text")
    effort_id = given.get("effortId")
    wanted = effort_id if isinstance(effort_id, int) else None
    kind, cwd = str(given.get("log") or "LOG"), str(given.get("cwd") or env.get("CWD", ""))
    database = database_of(runtime)
    window = window_in(runtime, env) or ""
    place = database.run(lambda tx: effort_commands.locate_log(tx, cwd, agent_in(env), wanted, kind, window))
    size = artefacts.append(place["path"], artefacts.stamp_heading(text))
    database.run(lambda tx: effort_commands.reset_heartbeat(tx, place["effortId"]))
    return {**place, "bytes": size}


def dehydrate(runtime: Runtime, arguments: Arguments, env: Env) -> Record:
    """Store what the next session needs, and end this one (called dehydrate in the RPC)."""
    given = camel_keys(arguments)
    payload, warnings = dehydration.validate_payload(redact_data(given.get("payload")))
    session_id = given.get("sessionId")
    wanted = session_id if isinstance(session_id, int) else None
    cwd = str(given.get("cwd") or env.get("CWD", ""))
    window = window_in(runtime, env)
    ended = database_of(runtime).run(
        lambda tx: _end_session(tx, wanted or _own_session(tx, runtime, cwd, agent_in(env), window), payload, window)
    )
    if run := ended.get("clientSessionId"):
        _ask_for_restart(runtime, run)
    return {"sessionId": ended["id"], "effortId": ended["effortId"], "warnings": warnings, "payload": payload}


def change_phase(
    tx: Transaction,
    cwd: str,
    agent_id: str,
    phase: str,
    proof: dict[str, Any] | None = None,
    reason: str | None = None,
    effort_id: int | None = None,
    client_session_id: str | None = None,
) -> Record:
    """Change the phase of the active effort of this project."""
    id_ = effort_id if effort_id is not None else _active(tx, cwd, agent_id, client_session_id)["id"]
    return phases.change(tx, id_, phase, proof, reason)


def active_ids(tx: Transaction, cwd: str, agent_id: str, client_session_id: str | None = None) -> Record:
    """Return the ids of the active task, effort and session, or nulls, and the rows of effort and session."""
    project_moves.follow_move(tx, cwd)
    found = lookup.look_up(tx, cwd, agent_id, client_session_id or "")
    return {**found.ids, "effort": found.effort, "session": found.session}


def _active(tx: Transaction, cwd: str, agent_id: str, window: str | None = None) -> Record:
    project_moves.follow_move(tx, cwd)
    effort = lookup.look_up(tx, cwd, agent_id, window or "").effort
    if effort is None:
        raise effort_commands.no_effort()
    return effort


def _own_session(tx: Transaction, runtime: Runtime, cwd: str, agent_id: str, window: str | None) -> int:
    """
    Return the session to end: that of the calling window if it is known, else the open one of the active effort.

    INVARIANT: a window that has a supervisor cannot end the session of another window, even one with the same effort.
    """
    own = sessions.last_of_window(tx, window) if window else None
    if own:
        return int(own["id"])
    effort = _active(tx, cwd, agent_id, window)
    open_ = sessions.find(tx, effort["id"])
    if open_ is None or (window and open_["clientSessionId"] not in (None, window)):
        raise WorkError("NOT_FOUND", f"effort {effort['id']} has no open session of this window")
    return int(open_["id"])


def _end_session(tx: Transaction, session_id: int, payload: Mapping[str, Any], window: str | None) -> Record:
    """End the session; one that was replaced meanwhile still stores its payload."""
    session = sessions.get(tx, session_id)
    if session["endedAt"] is not None and window and session["clientSessionId"] == window:
        return sessions.store_payload(tx, session_id, dict(payload))
    return sessions.finish(tx, session_id, dict(payload), "dehydrated")


def _ask_for_restart(runtime: Runtime, client_session_id: str) -> None:
    """Ask the supervisor of this window, if it has one, to start the next."""
    run = runtime.store.get(f"session:{client_session_id}", "supervisor")
    if isinstance(run, str):
        runtime.store.put(f"supervisor:{run}", "restart", {"reason": "dehydrated"})


COMMANDS = {
    "commands.effort.start": sync_around(in_transaction(effort_commands.start_effort)),
    "commands.effort.resume": sync_around(in_transaction(effort_commands.resume_effort)),
    "commands.efforts.resume": sync_around(in_transaction(effort_commands.resume_effort)),
    "commands.effort.phase": in_transaction(change_phase),
    "commands.log.append": append_log,
    "commands.session.dehydrate": sync_after(dehydrate),
    "commands.where": in_transaction(active_ids),
}
