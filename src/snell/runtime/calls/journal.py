"""What was decided, for those who only read: why, sessions, efforts."""

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins

from snell.engine.explain import explained
from snell.model.errors import SnellError
from snell.model.ports import Database
from snell.runtime.calls import call_for
from snell.runtime.calls.aside import aside
from snell.runtime.house import House
from snell.runtime.store_journal import StoreJournal
from snell.work.session_reports import in_words, recent_sessions, report_of

Arguments = Mapping[str, Any]
NEWEST = 20


def why(house: House, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """id (or its beginning, or `last`) -> the decision, in words."""
    record = _journal(house).find(str(arguments.get("id") or "last"))
    return {"id": record["id"], "verdict": record.get("verdict", ""), "explanation": explained(record)}


def session(house: House, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """session_id (or `last`) -> what was decided in it, in Markdown."""
    database, wanted = _database(house), str(arguments.get("session_id") or "last")
    if wanted == "last":
        newest = database.run(lambda tx: recent_sessions(tx, 1))
        if not newest:
            return {"session_id": "", "report": "No session is known yet.\n", "decisions": 0}
        wanted = newest[0].session_id
    report = database.run(lambda tx: report_of(tx, wanted))
    if report is None:
        raise SnellError(f"there is no session `{wanted[:200]}`", advice="`sessions` lists those that are known")
    return {
        **to_builtins(report),
        "session_id": wanted,
        "report": in_words(report),
        "decisions": report.summary.decisions,
    }


def sessions(house: House, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """limit -> the sessions that were active last."""
    limit = arguments.get("limit", 10)
    return {"sessions": to_builtins(_database(house).run(lambda tx: recent_sessions(tx, limit)))}


def efforts(house: House, arguments: Arguments, env: Mapping[str, str]) -> dict[str, Any]:
    """effort_id (or none: the newest ones) -> efforts; of one also its sessions."""
    if not house.store.get("work", "in_use"):
        return {"efforts": [], "sessions": []}  # asking must not make anybody keep some
    one = arguments.get("effort_id")
    if one is None:
        return {"efforts": _work(house, "db.effort.list", {}, env)[-NEWEST:], "sessions": []}
    sessions_of_it = _work(house, "db.session.list", {"effortId": one}, env)
    return {"efforts": [_work(house, "db.effort.get", {"id": one}, env)], "sessions": sessions_of_it[-NEWEST:]}


def _work(house: House, command: str, arguments: Arguments, env: Mapping[str, str]) -> Any:
    call = call_for(command, house)
    return call(arguments, env) if call else []


def _database(house: House) -> Database:
    """With everything in it that was decided so far."""
    if house.database is None:
        raise SnellError("this house keeps no journal")
    _journal(house).take_in()
    return house.database


def _journal(house: House) -> StoreJournal:
    if isinstance(house.journal, StoreJournal):
        return house.journal
    raise SnellError("this house keeps no journal")


COMMANDS = {
    "journal.why": why,
    "journal.session": aside(session),
    "journal.sessions": aside(sessions),
    "journal.efforts": efforts,
}
