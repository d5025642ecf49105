"""
Select the decisions of one project.

A row has no folder, but its trace has. A session belongs to the project in which it began.
"""

import time
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from snell.memory.project_identity import project_of
from snell.memory.types import ANY
from snell.model.protocols import Database, Transaction
from snell.records import decisions
from snell.records.decisions import SEARCHED, Row
from snell.records.retention import folder_of
from snell.records.session_reports import SessionSummary, recent_sessions

PAGE = 200
MOST_SESSIONS = 500
TRACE_SECONDS = 1.5  # a trace is written within about half a second after its row
POLL_SECONDS = 0.05
_OF_SESSION = (
    "SELECT t.body FROM decisions d JOIN traces t ON t.decision_id = d.id"
    " WHERE d.session_id = ? AND t.body <> '' ORDER BY d.seq LIMIT 20"
)


class _Trace(Struct):
    cwd: str = ""


class ProjectFilter:
    """Selects the decisions of one project, or of all for `*`."""

    def __init__(self, tx: Transaction, project: str) -> None:
        self._tx = tx
        self._project = project
        self._sessions: dict[str, str | None] = {}

    def holds(self, row: Row) -> bool:
        if self._project == ANY:
            return True
        return self._project == (
            self._project_of_session(row.session_id) if row.session_id else self._project_of_decision(row.id)
        )

    def has_session(self, session_id: str) -> bool:
        return self._project in (ANY, self._project_of_session(session_id))

    def sessions(self, limit: int) -> list[SessionSummary]:
        """Return the newest sessions."""
        if self._project == ANY:
            return recent_sessions(self._tx, limit)
        return [each for each in recent_sessions(self._tx, MOST_SESSIONS) if self.has_session(each.session_id)][:limit]

    def last(self) -> Row | None:
        return next((row for row in self._newest() if self.holds(row)), None)

    def _newest(self) -> Iterator[Row]:
        before: int | None = None
        for _ in range(SEARCHED // PAGE):
            rows = decisions.recent(self._tx, limit=PAGE, before=before)
            yield from rows
            if len(rows) < PAGE:
                return
            before = rows[-1].seq

    def _project_of_session(self, session_id: str) -> str | None:
        if session_id not in self._sessions:
            self._sessions[session_id] = self._look_up(session_id)
        return self._sessions[session_id]

    def _look_up(self, session_id: str) -> str | None:
        kept = folder_of(self._tx, session_id)  # stored when the session's first traces expired
        if kept:
            return project_of(kept)
        return _project_in([body for (body,) in self._tx.rows(_OF_SESSION, session_id)])

    def _project_of_decision(self, decision_id: str) -> str | None:
        trace = decisions.trace(self._tx, decision_id)
        return _project_in([trace.body] if trace and trace.body else [])


def wait_for_traces(database: Database) -> None:
    """Wait until the trace of the last decision, which names its folder, is written."""
    until = time.monotonic() + TRACE_SECONDS
    while time.monotonic() < until and database.run(_is_on_its_way):
        time.sleep(POLL_SECONDS)


def _is_on_its_way(tx: Transaction) -> bool:
    newest = decisions.find(tx)
    if newest is None or time.time() - newest.at / 1000 > TRACE_SECONDS:
        return False
    trace = decisions.trace(tx, newest.id)
    return trace is None or not trace.body


def _project_in(bodies: list[str]) -> str | None:
    folders = (msgspec.json.decode(body, type=_Trace).cwd for body in bodies)
    return next((project_of(cwd) for cwd in folders if cwd), None)
