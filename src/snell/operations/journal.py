"""
Read decisions, sessions and efforts.

Without `project` an operation uses the project of the caller's folder; `*` means all projects.
"""

import time
from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, to_builtins

from snell.engine.explain import explain
from snell.memory.project_identity import project_of
from snell.memory.types import ANY
from snell.model.errors import SnellError
from snell.model.protocols import Database, Transaction
from snell.operations import results
from snell.operations.declaration import IN_USE, Answer, Call, about, operation
from snell.operations.memory_call import Limit, Project, project_of_call
from snell.records import decisions
from snell.records.decisions import SEARCHED, Row
from snell.records.retention import folder_of
from snell.records.session_reports import SessionReport, SessionSummary, recent_sessions, report_as_markdown, report_of
from snell.runtime.database_journal import StoreJournal
from snell.work.efforts import get as get_effort
from snell.work.efforts import list_ as list_efforts
from snell.work.sessions import list_ as list_sessions

NEWEST = 20
_ELSEWHERE = "it may belong to another project: set `project` to that one, or to `*` for all"


@operation("journal.why", tool=True, slow=True, gives=results.Explained)
def why(
    call: Call,
    id_: Annotated[str, about("an id, its first characters, or `last`", min_length=1, max_length=200)] = "last",
    project: Project = "",
) -> Answer:
    """Explain why a tool call was denied, rewritten or allowed: every hook that ran, and its result."""
    place = project_of_call(call, project)
    record = _journal(call).find(_id_in_project(_database(call), id_, place))
    return {"id": record["id"], "verdict": record.get("verdict", ""), "explanation": explain(record)}


@operation("journal.session", tool="session_report", slow=True, gives=results.Report)
def session(
    call: Call,
    session_id: Annotated[str, about("or `last`", min_length=1, max_length=200)] = "last",
    project: Project = "",
) -> Answer:
    """Report what Snell decided in a session: tools, denied calls and their reasons, failures."""
    database, place, wanted = _database(call), project_of_call(call, project), session_id
    if wanted == "last":
        newest = database.run(lambda tx: ProjectFilter(tx, place).sessions(1), only_reads=True)
        if not newest:
            return {"session_id": "", "report": "No sessions yet.\n", "decisions": 0}
        wanted = newest[0].session_id

    def read(tx: Transaction) -> SessionReport | None:
        return report_of(tx, wanted) if ProjectFilter(tx, place).has_session(wanted) else None

    report = database.run(read, only_reads=True)
    if report is None:
        known = database.run(lambda tx: decisions.recent(tx, session=wanted, limit=1), only_reads=True)
        advice = _ELSEWHERE if known else "`sessions` lists the known sessions"
        raise SnellError(f"no session `{wanted[:200]}`{' in this project' if known else ''}", advice=advice)
    return {
        **to_builtins(report),
        "session_id": wanted,
        "report": report_as_markdown(report),
        "decisions": report.summary.decisions,
    }


@operation("journal.sessions", tool=True, slow=True, gives=results.Listed)
def sessions(call: Call, limit: Limit = 10, project: Project = "") -> Answer:
    """List the sessions that were active last."""
    place = project_of_call(call, project)
    found = _database(call).run(lambda tx: ProjectFilter(tx, place).sessions(limit), only_reads=True)
    return {"sessions": to_builtins(found)}


@operation("journal.efforts", tool=True, gives=results.Listed)
def efforts(call: Call, effort_id: Annotated[int, Meta(ge=1)] | None = None) -> Answer:
    """List the newest efforts, or show one of them with its sessions."""
    if not call.runtime.store.get(*IN_USE):
        return {"efforts": [], "sessions": []}  # reading must not switch the work layer on
    if effort_id is None:
        return {"efforts": call.database.run(list_efforts)[-NEWEST:], "sessions": []}
    return call.database.run(
        lambda tx: {"efforts": [get_effort(tx, effort_id)], "sessions": list_sessions(tx, effort_id)[-NEWEST:]}
    )


def _id_in_project(database: Database, wanted: str, place: str) -> str:
    """Return the id of the decision, if it belongs to the project. Raises SnellError."""

    def work(tx: Transaction) -> Row | None:
        own = ProjectFilter(tx, place)
        if wanted == "last":
            return own.last()
        row = decisions.find(tx, wanted)
        return row if row and own.holds(row) else None

    found = database.run(work, only_reads=True)
    if found is None:
        what = "no decision" if wanted == "last" else f"no decision `{wanted[:200]}`"
        raise SnellError(f"{what} in this project", advice=_ELSEWHERE)
    return found.id


def _database(call: Call) -> Database:
    """Return the database, after all decisions so far and their traces are written to it."""
    _journal(call).take_in()
    wait_for_traces(call.database)
    return call.database


def _journal(call: Call) -> StoreJournal:
    if isinstance(call.runtime.journal, StoreJournal):
        return call.runtime.journal
    raise SnellError("this runtime has no journal")


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
    """Wait until the trace of the last decision, which names its folder, and its tool call are written."""
    until = time.monotonic() + TRACE_SECONDS
    while time.monotonic() < until and database.run(_is_on_its_way, only_reads=True):
        time.sleep(POLL_SECONDS)


def _is_on_its_way(tx: Transaction) -> bool:
    newest = decisions.find(tx)
    if newest is None or time.time() - newest.at / 1000 > TRACE_SECONDS:
        return False
    trace = decisions.trace(tx, newest.id)
    return trace is None or not trace.body or bool(decisions.without_call(tx, newest.seq - 1, newest.seq, 1))


def _project_in(bodies: list[str]) -> str | None:
    folders = (msgspec.json.decode(body, type=_Trace).cwd for body in bodies)
    return next((project_of(cwd) for cwd in folders if cwd), None)
