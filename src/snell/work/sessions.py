"""Read and write sessions: one per context window, each linked to the one before it. None is ever resumed."""

from typing import Any

from snell.model.protocols import Transaction
from snell.work import efforts
from snell.work.errors import WorkError
from snell.work.rows import Record, WorkTable, now_ms, union, update

SESSIONS = WorkTable(
    "sessions",
    "id task_id effort_id prev_session_id parent_session_id client_session_id subagent_id pid heartbeat_counter"
    " heartbeat_interval last_heartbeat context_usage loaded_files preloaded_files pending_injections"
    " discovered_directives discovered_directories told dehydration_payload rehydrated_at transcript_path"
    " transcript_offset cost interaction created_at ended_at end_reason host",
    "session",
)
get = SESSIONS.get
NEW_EFFORT = "another effort was begun"  # in column `told`: the window must look up its effort again


def start(
    tx: Transaction,
    effort_id: int,
    client_session_id: str | None = None,
    pid: int | None = None,
    transcript_path: str | None = None,
) -> Record:
    """Insert a session; the open one of the effort ends and becomes its previous one."""
    effort = efforts.get_unfinished(tx, effort_id)
    before = SESSIONS.first(tx, "WHERE effort_id = ? AND subagent_id = '' ORDER BY id DESC LIMIT 1", effort_id)
    ended = "UPDATE sessions SET ended_at = ?, end_reason = 'replaced' WHERE effort_id = ? AND ended_at IS NULL"
    tx.do(ended, now_ms(), effort_id)
    if effort["host"]:
        tx.do("UPDATE efforts SET host = '' WHERE id = ?", effort_id)  # this machine works on it now
    if not client_session_id:
        _notify_windows(tx, effort)
    return _insert(
        tx,
        effort,
        client_session_id=client_session_id,
        pid=pid,
        transcript_path=transcript_path,
        prev_session_id=before["id"] if before else None,
        discovered_directives=before["discoveredDirectives"] if before else [],
        discovered_directories=before["discoveredDirectories"] if before else [],
    )


def start_for_subagent(tx: Transaction, parent: Record, subagent_id: str, transcript_path: str = "") -> Record:
    """Insert a sub-agent's session on the effort of its parent's session; both stay open."""
    known = find_open(tx, parent["clientSessionId"] or "", subagent_id)
    return known or _insert(
        tx,
        efforts.get(tx, parent["effortId"]),
        parent_session_id=parent["id"],
        client_session_id=parent["clientSessionId"],
        subagent_id=subagent_id,
        transcript_path=transcript_path or None,
    )


def finish(
    tx: Transaction,
    id: int,  # noqa: A002 - the name in the protocol
    dehydration_payload: dict[str, Any] | None = None,
    end_reason: str | None = None,
) -> Record:
    """End a session, with the payload for the next one."""
    if get(tx, id)["endedAt"] is not None:
        raise WorkError("ALREADY_ENDED", f"session {id} has ended")
    changes = {"ended_at": now_ms(), "end_reason": end_reason}
    payload = {"dehydration_payload": dehydration_payload} if dehydration_payload is not None else {}
    return SESSIONS.change(tx, id, **changes, **payload)


def find(tx: Transaction, effort_id: int) -> Record | None:
    """Return the open session of an effort, without those of sub-agents."""
    where = "WHERE effort_id = ? AND ended_at IS NULL AND subagent_id = '' ORDER BY id DESC LIMIT 1"
    return SESSIONS.first(tx, where, effort_id)


def find_open(tx: Transaction, client_session_id: str, subagent_id: str = "") -> Record | None:
    """Return the open session of a client's window."""
    if not client_session_id:
        return None
    where = "WHERE client_session_id = ? AND subagent_id = ? AND ended_at IS NULL ORDER BY id DESC LIMIT 1"
    return SESSIONS.first(tx, where, client_session_id, subagent_id)


def last_of_window(tx: Transaction, client_session_id: str) -> Record | None:
    """Return the open session of a window; its last one if another window has replaced it."""
    where = "WHERE client_session_id = ? AND subagent_id = '' ORDER BY ended_at IS NULL DESC, id DESC LIMIT 1"
    return SESSIONS.first(tx, where, client_session_id)


def store_payload(tx: Transaction, id: int, dehydration_payload: dict[str, Any]) -> Record:  # noqa: A002 - as above
    """Store the payload of a window whose session another window has replaced, and end the session."""
    left = {"dehydration_payload": dehydration_payload, "ended_at": now_ms(), "end_reason": "dehydrated"}
    return SESSIONS.change(tx, id, **left)


def list_(tx: Transaction, effort_id: int | None = None, open_only: bool = False) -> list[Record]:
    found = SESSIONS.matching(tx, "id", effort_id=effort_id)
    return [each for each in found if each["endedAt"] is None] if open_only else found


def heartbeat(tx: Transaction, id: int, reset: bool = False) -> Record:  # noqa: A002 - the name in the protocol
    """Count one call, or reset the counter after the agent wrote into its log."""
    count = "0" if reset else "heartbeat_counter + 1"
    tx.do(f"UPDATE sessions SET heartbeat_counter = {count}, last_heartbeat = ? WHERE id = ?", now_ms(), id)
    return get(tx, id)


def update_context_usage(tx: Transaction, id: int, usage: float) -> Record:  # noqa: A002 - the name in the protocol
    """Set the fraction of the context that is used, from 0 to 1."""
    return SESSIONS.change(tx, id, context_usage=min(max(usage, 0.0), 1.0))


def update_loaded_files(tx: Transaction, id: int, files: list[Any]) -> Record:  # noqa: A002 - the name in the protocol
    return SESSIONS.change(tx, id, loaded_files=files)


def update_preloaded_files(tx: Transaction, id: int, files: list[Any]) -> Record:  # noqa: A002 - the name in the protocol
    return SESSIONS.change(tx, id, preloaded_files=files)


def set_transcript(tx: Transaction, id: int, path: str, offset: int = 0) -> Record:  # noqa: A002 - the name in the protocol
    return SESSIONS.change(tx, id, transcript_path=path, transcript_offset=offset)


def get_injections(tx: Transaction, id: int) -> list[Any]:  # noqa: A002 - the name in the protocol
    waiting: list[Any] = get(tx, id)["pendingInjections"]
    return waiting


def update_injections(tx: Transaction, id: int, injections: list[Any]) -> Record:  # noqa: A002 - the name in the protocol
    return SESSIONS.change(tx, id, pending_injections=injections)


def take_new_effort_notice(tx: Transaction, session: Record) -> bool:
    """Return whether another effort was started since the last call, and clear that notice."""
    if NEW_EFFORT not in session["told"]:
        return False
    session["told"] = [each for each in session["told"] if each != NEW_EFFORT]
    update(tx, "sessions", "id", session["id"], {"told": session["told"]})
    return True


def chain(tx: Transaction, session: Record) -> list[Record]:
    """Return the sessions before this one, the latest first."""
    found: list[Record] = []
    id_, seen = session["prevSessionId"], {session["id"]}
    while id_ is not None and id_ not in seen and len(found) < 1_000:
        seen.add(id_)
        found.append(get(tx, id_))
        id_ = found[-1]["prevSessionId"]
    return found


def _notify_windows(tx: Transaction, effort: Record) -> None:
    """Mark the open sessions of other windows in this project, so that one of them takes the new session."""
    where = (
        "WHERE ended_at IS NULL AND client_session_id IS NOT NULL AND subagent_id = '' AND effort_id <> ?"
        " AND task_id IN (SELECT dir_path FROM tasks"
        " WHERE project_id = (SELECT project_id FROM tasks WHERE dir_path = ?))"
    )
    for each in SESSIONS.read(tx, where, effort["id"], effort["taskId"]):
        update(tx, "sessions", "id", each["id"], {"told": union(each["told"], [NEW_EFFORT])})


def _insert(tx: Transaction, effort: Record, **columns: Any) -> Record:
    now = now_ms()
    known = {"task_id": effort["taskId"], "effort_id": effort["id"], "created_at": now, "last_heartbeat": now}
    return SESSIONS.insert(tx, **known, **columns)
