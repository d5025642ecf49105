"""
Look up the project, effort and session of a client by its session id or directory.

What cannot be found is null; the agent continues without it.
"""

from msgspec import Struct

from snell.model.protocols import Transaction
from snell.work import efforts, projects, sessions
from snell.work.rows import Record, camel, read, update


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
    joins_agents: bool = False,
) -> Lookup:
    """
    Return the effort and session of a client's window. A newly started effort comes before an older one.

    With `joins_agents` a window without a name gets the newest effort, also one that a named agent works on.

    INVARIANT: the session of another window is never returned, so a window never counts on another one's heartbeat.
    """
    own = sessions.find_open(tx, client_session_id, subagent_id)
    if own and not sessions.take_new_effort_notice(tx, own):
        return Lookup(None, efforts.get(tx, own["effortId"]), own)
    project = projects.find_enclosing(tx, cwd)
    find = efforts.find_for_window if client_session_id and not joins_agents else efforts.find_active
    effort = find(tx, project["id"], agent_id) if project else None
    if own and (effort is None or not _is_free(sessions.find(tx, effort["id"]))):
        return Lookup(None, efforts.get(tx, own["effortId"]), own)
    if project is None or effort is None:
        return Lookup(project["id"]) if project else NOTHING
    session = _adopt_session(tx, effort["id"], client_session_id) if adopts and not subagent_id else None
    return Lookup(project["id"], effort, session)


def _adopt_session(tx: Transaction, effort_id: int, client_session_id: str) -> Record | None:
    """Return the open session of an effort; one that was started from a command line gets this window."""
    session = sessions.find(tx, effort_id)
    if session is None or not client_session_id or session["clientSessionId"] == client_session_id:
        return session
    if not _is_free(session):
        return None
    update(tx, "sessions", "id", session["id"], {"client_session_id": client_session_id})
    return sessions.get(tx, session["id"])


def _is_free(session: Record | None) -> bool:
    return session is not None and not session["clientSessionId"] and not session["host"]


def look_up_known_window(tx: Transaction, client_session_id: str, subagent_id: str = "") -> Lookup | None:
    """Return the same for a known window with one query and only the columns that a tool call needs, for speed."""
    if not client_session_id:
        return None
    found = tx.rows(_KNOWN_WINDOW, client_session_id, subagent_id)
    if not found or sessions.NEW_EFFORT in found[0][2]:
        return None
    number = len(_OF_SESSION)
    session = {camel(name): read(name, value) for name, value in zip(_OF_SESSION, found[0][:number], strict=True)}
    session |= {"clientSessionId": client_session_id, "subagentId": subagent_id}
    effort = {camel(name): read(name, value) for name, value in zip(_OF_EFFORT, found[0][number:], strict=True)}
    return Lookup(None, effort, {**session, "heartbeatCounter": None, "contextUsage": None})


_OF_SESSION = ("id", "transcript_path", "told", "pending_injections", "discovered_directives", "effort_id")
_OF_EFFORT = ("id", "metadata", "lifecycle", "current_phase")
_KNOWN_WINDOW = (
    f"SELECT s.{', s.'.join(_OF_SESSION)}, e.{', e.'.join(_OF_EFFORT)} FROM sessions s"
    " JOIN efforts e ON e.id = s.effort_id"
    " WHERE s.client_session_id = ? AND s.subagent_id = ? AND s.ended_at IS NULL ORDER BY s.id DESC LIMIT 1"
)
