"""
Read decisions, sessions and efforts.

Without `project` an operation uses the project of the caller's folder; `*` means all projects.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins

from snell.engine.explain import explain
from snell.model.errors import SnellError
from snell.model.protocols import Database, Transaction
from snell.operations import call_for, run_in_thread
from snell.operations.memory import project
from snell.operations.project_filter import ProjectFilter, wait_for_traces
from snell.records import decisions
from snell.records.decisions import Row
from snell.records.session_reports import report_as_markdown, report_of
from snell.runtime.app import Runtime
from snell.runtime.database_journal import StoreJournal

Arguments = Mapping[str, Any]
NEWEST = 20


def why(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """Explain a decision. Arguments: id (or its first characters, or `last`), project."""
    wanted, place = str(arguments.get("id") or "last"), project(arguments, env)
    record = _journal(runtime).find(_id_in_project(_database(runtime), wanted, place))
    return {"id": record["id"], "verdict": record.get("verdict", ""), "explanation": explain(record)}


def session(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """Return a report of a session in Markdown. Arguments: session_id (or `last`), project."""
    database, wanted = _database(runtime), str(arguments.get("session_id") or "last")
    place = project(arguments, env)
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


def sessions(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """Return the sessions that were active last. Arguments: limit, project."""
    limit, place = arguments.get("limit", 10), project(arguments, env)
    return {"sessions": to_builtins(_database(runtime).run(lambda tx: ProjectFilter(tx, place).sessions(limit)))}


def efforts(runtime: Runtime, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """Return the newest efforts, or one with its sessions. Arguments: effort_id."""
    if not runtime.store.get("work", "in_use"):
        return {"efforts": [], "sessions": []}  # reading must not switch the work layer on
    one = arguments.get("effort_id")
    if one is None:
        return {"efforts": _work(runtime, "db.effort.list", {}, env)[-NEWEST:], "sessions": []}
    sessions_of_it = _work(runtime, "db.session.list", {"effortId": one}, env)
    return {"efforts": [_work(runtime, "db.effort.get", {"id": one}, env)], "sessions": sessions_of_it[-NEWEST:]}


_ELSEWHERE = "it may belong to another project: set `project` to that one, or to `*` for all"


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


def _work(runtime: Runtime, command: str, arguments: Arguments, env: Mapping[str, str]) -> Any:
    call = call_for(command, runtime)
    return call(arguments, env) if call else []


def _database(runtime: Runtime) -> Database:
    """Return the database, after all decisions so far and their traces are written to it."""
    if runtime.database is None:
        raise SnellError("this runtime has no journal")
    _journal(runtime).take_in()
    wait_for_traces(runtime.database)
    return runtime.database


def _journal(runtime: Runtime) -> StoreJournal:
    if isinstance(runtime.journal, StoreJournal):
        return runtime.journal
    raise SnellError("this runtime has no journal")


COMMANDS = {
    "journal.why": run_in_thread(why),
    "journal.session": run_in_thread(session),
    "journal.sessions": run_in_thread(sessions),
    "journal.efforts": efforts,
}
