"""Sessions: the newest ones, and one of them as a timeline with efforts, phases, context use and sub-agents."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from snell.model.events import as_table
from snell.model.protocols import Transaction
from snell.packs.sessions.caller import USAGE, usage_of
from snell.records.session_reports import report_of
from snell.system.json_input import json_or_none
from snell.ui.decision_rows import WINDOW, DecisionPage, session_page
from snell.ui.numbers import number_in
from snell.ui.site import MissingError, Query, Site
from snell.work import efforts, phases

SHOWN = 25
STRIP = 120  # newest decisions that a line of the list shows
REFUSING = ("ask", "defer", "deny")
TICKS = 400  # newest decisions of a session that its timeline shows
WIDTH, TICK = 1000, 4  # of the timeline, in its own units
_AGENT = "CASE WHEN json_valid(t.body) THEN COALESCE(json_extract(t.body, '$.agent_type'), '') END"


class Row(Struct, frozen=True):
    session_id: str
    client: str
    first: int
    last: int
    decisions: int
    denied: int
    asked: int
    newest: int
    folder: str = ""
    ticks: tuple[tuple[float, str], ...] = ()  # place in percent and verdict of each decision


class Tick(Struct, frozen=True):
    x: float
    id: str
    verdict: str
    title: str


def show(site: Site, query: Query) -> dict[str, Any]:
    rows, older = site.store.run(lambda tx: _page(tx, number_in(query, "before")))
    return {"rows": rows, "older": older, "is_first": not number_in(query, "before")}


def show_one(site: Site, query: Query) -> dict[str, Any]:
    session_id, before = query.get("id", ""), number_in(query, "before")

    def read(tx: Transaction) -> dict[str, Any]:
        report = report_of(tx, session_id)
        if report is None:
            raise MissingError(f"there is no session `{session_id}`", advice="the page Sessions lists them")
        found: DecisionPage = session_page(tx, session_id, before)
        return {"report": report, "found": found, **_timeline(tx, session_id), **_work(tx, session_id)}

    values = site.store.run(read)
    return {**values, "session_id": session_id, "before": before, "folder": _folder(values["found"])}


def _page(tx: Transaction, before: int) -> tuple[list[Row], int]:
    """Return the sessions whose newest decision is in a window, and where the next page begins."""
    newest = int(tx.rows("SELECT COALESCE(MAX(seq), 0) FROM decisions")[0][0])
    before = before if 0 < before <= newest else newest + 1
    low = max(0, before - WINDOW)
    sql = (
        "SELECT session_id, MAX(seq) FROM decisions d WHERE seq < ? AND seq >= ? AND session_id <> ''"
        " AND NOT EXISTS (SELECT 1 FROM decisions n WHERE n.session_id = d.session_id AND n.seq >= ?)"
        " GROUP BY session_id ORDER BY 2 DESC LIMIT ?"
    )
    found = tx.rows(sql, before, low, before, SHOWN + 1)
    rows = [_row(tx, str(session_id), int(seq)) for session_id, seq in found[:SHOWN]]
    if len(found) > SHOWN:
        return rows, int(found[SHOWN - 1][1])
    return rows, low if low > 1 else 0


def _row(tx: Transaction, session_id: str, newest: int) -> Row:
    sql = (
        "SELECT MAX(client), MIN(at), MAX(at), COUNT(*), SUM(verdict = 'deny'), SUM(verdict IN ('ask', 'defer'))"
        " FROM (SELECT client, at, verdict FROM decisions WHERE session_id = ? ORDER BY seq DESC LIMIT 1000)"
    )
    client, first, last, number, denied, asked = tx.rows(sql, session_id)[0]
    bodies = tx.rows(
        "SELECT t.body FROM decisions d JOIN traces t ON t.decision_id = d.id WHERE d.seq = ? AND t.body <> ''", newest
    )
    folder = str(as_table(json_or_none(bodies[0][0])).get("cwd", "")) if bodies else ""
    ticks = tuple(_ticks(tx, session_id))
    return Row(session_id, client, first, last, number, int(denied), int(asked), newest, folder, ticks)


def _ticks(tx: Transaction, session_id: str) -> Iterator[tuple[float, str]]:
    """Yield the newest decisions of a session as places on a line, those that refuse last, so that they are seen."""
    rows = tx.rows(
        "SELECT at, verdict FROM decisions WHERE session_id = ? ORDER BY seq DESC LIMIT ?", session_id, STRIP
    )
    first, last = min(row[0] for row in rows), max(row[0] for row in rows)
    for at, verdict in sorted(rows, key=lambda row: row[1] in REFUSING):
        yield round(98 * (at - first) / max(1, last - first), 1), str(verdict)


def _timeline(tx: Transaction, session_id: str) -> dict[str, Any]:
    """Return a lane of ticks for the session itself and for each kind of sub-agent."""
    sql = (
        f"SELECT d.at, d.id, d.verdict, d.event, d.tool, {_AGENT} FROM decisions d"
        " LEFT JOIN traces t ON t.decision_id = d.id WHERE d.session_id = ? ORDER BY d.seq DESC LIMIT ?"
    )
    rows = tx.rows(sql, session_id, TICKS)[::-1]
    first, last = min((row[0] for row in rows), default=0), max((row[0] for row in rows), default=0)
    lanes: dict[str, list[Tick]] = {}
    for at, id_, verdict, event, tool, agent in rows:
        place = (WIDTH - TICK) * (at - first) / max(1, last - first)
        lane = str(agent or "session")
        lanes.setdefault(lane, []).append(Tick(round(place, 1), id_, verdict, f"{tool or event}: {verdict}"))
    return {"lanes": lanes, "width": WIDTH, "from": first, "to": last}


def _work(tx: Transaction, session_id: str) -> dict[str, Any]:
    """Return the efforts of the session with their phases, and how full its context is."""
    columns = ("effort_id", "subagent_id", "context_usage", "heartbeat_counter", "created_at", "ended_at", "end_reason")
    sql = f"SELECT {', '.join(columns)} FROM sessions WHERE client_session_id = ? ORDER BY id DESC LIMIT 50"
    windows = [dict(zip(columns, row, strict=True)) for row in tx.rows(sql, session_id)]
    known = [efforts.get(tx, number) for number in dict.fromkeys(each["effort_id"] for each in windows)]
    used = tx.rows("SELECT value FROM marks WHERE scope = ? AND name = ?", f"session:{session_id}", USAGE)
    mark = as_table(json_or_none(used[0][0])) if used else {}
    return {
        "windows": windows,
        "efforts": [{**each, "history": phases.history(tx, each["id"])} for each in known],
        "usage": next((each["context_usage"] for each in windows if each["context_usage"]), None) or usage_of(mark),
    }


def _folder(found: DecisionPage) -> str:
    return next((each.project for each in found.seen if each.project), "")
