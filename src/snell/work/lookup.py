"""
From what a client tells to what we know: its session or directory -> project -> effort -> session.

Whatever cannot be found is null, and trouble with the database is nulls too: an agent goes on working without us.
"""

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.work import efforts, projects, sessions
from snell.work.rows import Record, update


class Lookup(Struct, frozen=True):
    project_id: int | None = None
    effort: Record | None = None
    session: Record | None = None

    @property
    def ids(self) -> Record:
        return {
            "projectId": self.project_id,
            "effortId": self.effort["id"] if self.effort else None,
            "engineSessionId": self.session["id"] if self.session else None,
        }


NOTHING = Lookup()


def look_up(
    tx: Transaction,
    cwd: str,
    agent_id: str = "",
    client_session_id: str = "",
    subagent_id: str = "",
    *,
    adopts: bool = True,
) -> Lookup:
    """
    The effort and session of a client's window. An effort that was begun since then goes before an older one.

    INVARIANT: a session that belongs to another window is never found, so nobody counts on somebody else's heartbeat.
    """
    own = sessions.find_open(tx, client_session_id, subagent_id)
    if own and not sessions.hears_of_another(tx, own):
        return Lookup(None, efforts.get(tx, own["effortId"]), own)
    project = projects.find_around(tx, cwd)
    find = efforts.for_window if client_session_id else efforts.find_active
    effort = find(tx, project["id"], agent_id) if project else None
    if own and (effort is None or not _is_free(sessions.find(tx, effort["id"]))):
        return Lookup(None, efforts.get(tx, own["effortId"]), own)
    if project is None or effort is None:
        return Lookup(project["id"]) if project else NOTHING
    session = _adopted(tx, effort["id"], client_session_id) if adopts and not subagent_id else None
    return Lookup(project["id"], effort, session)


def _adopted(tx: Transaction, effort_id: int, client_session_id: str) -> Record | None:
    """The open session of an effort that was begun from a command line belongs to the first window that works on it."""
    session = sessions.find(tx, effort_id)
    if session is None or not client_session_id or session["clientSessionId"] == client_session_id:
        return session
    if not _is_free(session):
        return None
    update(tx, "sessions", "id", session["id"], {"client_session_id": client_session_id})
    return sessions.get(tx, session["id"])


def _is_free(session: Record | None) -> bool:
    return session is not None and not session["clientSessionId"] and not session["host"]


def look_up_cached(tx: Transaction, client_session_id: str, subagent_id: str = "") -> Lookup | None:
    """The same for a window that is known, with no more of its rows than a tool call needs: this is on its way."""
    if not client_session_id:
        return None
    found = tx.rows(_QUICK, client_session_id, subagent_id)
    if not found or sessions.ANOTHER in found[0][2]:
        return None
    id_, transcript, told, waiting, discovered, effort_id, metadata, lifecycle, phase = found[0]
    session = {
        "id": id_,
        "effortId": effort_id,
        "clientSessionId": client_session_id,
        "subagentId": subagent_id,
        "transcriptPath": transcript,
        "told": [] if told == "[]" else msgspec.json.decode(told),
        "pendingInjections": [] if waiting == "[]" else msgspec.json.decode(waiting),
        "discoveredDirectives": [] if discovered == "[]" else msgspec.json.decode(discovered),
        "heartbeatCounter": None,
        "contextUsage": None,
    }
    effort = {
        "id": effort_id,
        "metadata": {} if metadata == "{}" else msgspec.json.decode(metadata),
        "lifecycle": lifecycle,
        "currentPhase": phase,
    }
    return Lookup(None, effort, session)


_QUICK = (
    "SELECT s.id, s.transcript_path, s.told, s.pending_injections, s.discovered_directives, s.effort_id, e.metadata,"
    " e.lifecycle, e.current_phase FROM sessions s JOIN efforts e ON e.id = s.effort_id"
    " WHERE s.client_session_id = ? AND s.subagent_id = ? AND s.ended_at IS NULL ORDER BY s.id DESC LIMIT 1"
)
