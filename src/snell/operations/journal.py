"""
Read decisions, sessions and efforts.

Without `project` an operation uses the project of the caller's folder; `*` means all projects.
"""

from typing import Annotated

from msgspec import Meta, to_builtins

from snell.engine.explain import explain
from snell.model.errors import SnellError
from snell.model.protocols import Database, Transaction
from snell.operations import results
from snell.operations.declaration import IN_USE, Answer, Call, about, operation
from snell.operations.memory_call import Limit, Project, project_of_call
from snell.operations.project_filter import ProjectFilter, wait_for_traces
from snell.records import decisions
from snell.records.decisions import Row
from snell.records.session_reports import report_as_markdown, report_of
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
    """What Snell decided in a session: tools, denied calls and their reasons, failures."""
    database, place, wanted = _database(call), project_of_call(call, project), session_id
    if wanted == "last":
        newest = database.run(lambda tx: ProjectFilter(tx, place).sessions(1))
        if not newest:
            return {"session_id": "", "report": "No sessions yet.\n", "decisions": 0}
        wanted = newest[0].session_id
    report = database.run(lambda tx: report_of(tx, wanted) if ProjectFilter(tx, place).has_session(wanted) else None)
    if report is None:
        known = database.run(lambda tx: decisions.recent(tx, session=wanted, limit=1))
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
    """The sessions that were active last."""
    place = project_of_call(call, project)
    return {"sessions": to_builtins(_database(call).run(lambda tx: ProjectFilter(tx, place).sessions(limit)))}


@operation("journal.efforts", tool=True, gives=results.Listed)
def efforts(call: Call, effort_id: Annotated[int, Meta(ge=1)] | None = None) -> Answer:
    """The newest efforts, or one of them with its sessions."""
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

    found = database.run(work)
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
