"""Compound operations: start and resume an effort, write into its log, hand a session over to the next one."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from snell.model.protocols import Transaction
from snell.operations.declaration import Call, Operation, about, operation
from snell.redact import redact_data
from snell.work import artefacts, dehydration, effort_commands, lookup, phases, project_moves, sessions
from snell.work.errors import WorkError, invalid
from snell.work.rows import Record

EffortId = Annotated[int | None, about("the effort's id (default: the active one in this project)", option="effort")]


@operation("commands.log.append", verb="effort log", permission="writes")
def append_log(
    call: Call,
    cwd: str,
    content: Annotated[str, about("what to write", option="text", rest=True, stdin="the entry")] = "",
    log: Annotated[str, about("which log")] = "LOG",
    effort_id: EffortId = None,
    text: Annotated[str, about("the same as `content`")] = "",
) -> Record:
    """
    Write into the effort's log, and reset its heartbeat.

    INVARIANT: the heartbeat is reset only after the entry was written to the disk.
    """
    entry = content or text
    if not entry.strip():
        raise invalid("content: must be text")
    window = call.client_session_id or ""
    place = call.database.run(
        lambda tx: effort_commands.locate_log(tx, cwd, call.agent_id, effort_id, log or "LOG", window)
    )
    size = artefacts.append(place["path"], artefacts.stamp_heading(entry))
    call.database.run(lambda tx: effort_commands.reset_heartbeat(tx, place["effortId"]))
    return {**place, "bytes": size}


@operation("commands.session.dehydrate", verb="session dehydrate", permission="writes", sync="after")
def dehydrate(
    call: Call,
    cwd: str,
    payload: Annotated[Any, about("what the next session needs, as JSON", word=True, stdin="the payload")] = None,
    session_id: Annotated[
        int | None, about("the session's id (default: the open one of the active effort)", option="session")
    ] = None,
) -> Record:
    """Store what the next session needs, and end this one."""
    clean, warnings = dehydration.validate_payload(redact_data(payload))
    window = call.client_session_id
    ended = call.database.run(
        lambda tx: _end_session(tx, session_id or _own_session(tx, cwd, call.agent_id, window), clean, window)
    )
    id_ = ended.get("clientSessionId")
    run = call.runtime.store.get(f"session:{id_}", "supervisor") if id_ else None
    if isinstance(run, str):  # the supervisor of this window starts the next
        call.runtime.store.put(f"supervisor:{run}", "restart", {"reason": "dehydrated"})
    return {"sessionId": ended["id"], "effortId": ended["effortId"], "warnings": warnings, "payload": clean}


@operation("commands.effort.phase", permission="writes")
def change_phase(
    tx: Transaction,
    cwd: str,
    agent_id: str,
    phase: str,
    proof: dict[str, Any] | None = None,
    reason: str | None = None,
    effort_id: EffortId = None,
    client_session_id: str | None = None,
) -> Record:
    """Change the phase of the active effort of this project."""
    id_ = effort_id if effort_id is not None else active_effort(tx, cwd, agent_id, client_session_id)["id"]
    return phases.change(tx, id_, phase, proof, reason)


@operation("commands.where")
def active_ids(tx: Transaction, cwd: str, agent_id: str, client_session_id: str | None = None) -> Record:
    """Return the ids of the active task, effort and session, or nulls, and the rows of effort and session."""
    project_moves.follow_move(tx, cwd)
    found = lookup.look_up(tx, cwd, agent_id, client_session_id or "")
    return {**found.ids, "effort": found.effort, "session": found.session}


_START = {
    "task_name": about("the name of the task, or its directory", option="task", word=True),
    "skill": about("the skill to run", word=True),
    "mode": about("the mode of the skill"),
    "metadata": about("data of the effort, as JSON"),
    "title": about("the title of the task"),
    "description": about("what the task is about"),
}
_RESUME = {"effort_id": about("the effort's id (default: the active one in this project)", option="id", word=True)}

_shared = partial(Operation, permission="writes", sync="around")
OPERATIONS = (
    _shared("commands.effort.start", effort_commands.start_effort, verb="effort start", describes=_START),
    _shared("commands.effort.resume", effort_commands.resume_effort, verb="effort resume", describes=_RESUME),
    _shared("commands.efforts.resume", effort_commands.resume_effort),
)


def active_effort(tx: Transaction, cwd: str, agent_id: str, window: str | None = None) -> Record:
    project_moves.follow_move(tx, cwd)
    effort = lookup.look_up(tx, cwd, agent_id, window or "").effort
    if effort is None:
        raise effort_commands.no_effort()
    return effort


def _own_session(tx: Transaction, cwd: str, agent_id: str, window: str | None) -> int:
    """
    Return the session to end: that of the calling window if it is known, else the open one of the active effort.

    INVARIANT: a window that has a supervisor cannot end the session of another window, even one with the same effort.
    """
    own = sessions.last_of_window(tx, window) if window else None
    if own:
        return int(own["id"])
    effort = active_effort(tx, cwd, agent_id, window)
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
