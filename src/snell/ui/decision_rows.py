"""
Find decisions by page, newest first, and read what each was about from its trace.

A page reads a window of the newest rows before a number, by the primary key. So it takes as long in a store of a
million rows as in a small one, also where a filter matches nothing; the next window is the reader's choice.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from snell.cli.call_summary import About, about
from snell.engine.explain import shorten
from snell.model.decision import OBSERVED
from snell.model.protocols import Transaction
from snell.model.tables import Table, blanks
from snell.records.decisions import SELF_TEST, Row, newest_seq, run_patterns
from snell.runtime.database_journal import session_beginning

WINDOW = 5_000  # rows that one page reads at most
SHOWN = 50
LONGEST = 240  # characters of a reason
FILTERS = ("client", "project", "session", "verdict", "event", "hook", "text")
_ROWS = Table("decisions", Row, assigned="seq")
_CWD = "CASE WHEN json_valid(traces.body) THEN json_extract(traces.body, '$.cwd') END"

Record = dict[str, Any]


class ListedDecision(Struct, frozen=True):
    """A decision as lists show it."""

    row: Row
    what: str = ""  # the call: its command, path, address or the beginning of the prompt
    reason: str = ""
    hook: str = ""  # that decided
    project: str = ""
    agent: str = ""

    @property
    def folder(self) -> str:
        return self.project.rstrip("/").rpartition("/")[2] or self.project

    @property
    def verdict(self) -> str:
        return "no_opinion" if self.row.verdict == "silent" else self.row.verdict


class DecisionPage(Struct, frozen=True):
    seen: list[ListedDecision]
    older: int = 0  # the number before which the next page begins; 0: there is none
    is_complete: bool = True  # False: the window ended before the page was full


def find(tx: Transaction, asked: Mapping[str, str], before: int = 0, limit: int = SHOWN) -> DecisionPage:
    """Return a page of the decisions that match all filters."""
    newest = newest_seq(tx)
    before = before if 0 < before <= newest else newest + 1
    low = max(0, before - WINDOW)
    wanted = {"decisions.seq < ?": [before], "decisions.seq >= ?": [low], **_conditions(asked)}
    found = _read(tx, wanted, limit + 1)
    if len(found) > limit:
        return DecisionPage(found[:limit], found[limit - 1].row.seq)
    return DecisionPage(found, low if low > 1 else 0, is_complete=low <= 1)


def session_page(tx: Transaction, session_id: str, before: int = 0, limit: int = SHOWN) -> DecisionPage:
    """Return a page of one session's decisions, by the index of sessions."""
    wanted: dict[str, list[Any]] = {"decisions.session_id = ?": [session_id]}
    if before > 0:
        wanted["decisions.seq < ?"] = [before]
    found = _read(tx, wanted, limit + 1)
    return DecisionPage(found[:limit], found[limit - 1].row.seq if len(found) > limit else 0)


def clients(tx: Transaction) -> list[str]:
    """Return the clients of the newest window."""
    found = tx.rows("SELECT DISTINCT client FROM decisions WHERE seq > ?", newest_seq(tx) - WINDOW)
    return sorted(str(name) for (name,) in found if name)


class Counts(Struct, frozen=True):
    decisions: int = 0
    denied: int = 0
    asked: int = 0
    rewritten: int = 0
    failed: int = 0
    is_cut: bool = False  # there were more than a window has


def counts_since(tx: Transaction, at: int) -> Counts:
    """Return the numbers of the newest window that are not older than a time."""
    sql = (
        "SELECT COUNT(*), SUM(verdict = 'deny'), SUM(verdict IN ('ask', 'defer')), SUM(rewritten), SUM(failures > 0)"
        " FROM decisions WHERE seq > ? AND at >= ? AND event <> ?"
    )
    found = tx.rows(sql, newest_seq(tx) - WINDOW, at, SELF_TEST)[0]
    decisions, denied, asked, rewritten, failed = (int(each or 0) for each in found)
    return Counts(decisions, denied, asked, rewritten, failed, is_cut=decisions >= WINDOW)


def _read(tx: Transaction, wanted: Mapping[str, list[Any]], limit: int) -> list[ListedDecision]:
    joined = "LEFT JOIN traces ON traces.decision_id = decisions.id"
    clause = f"{joined} WHERE {' AND '.join(wanted)} ORDER BY decisions.seq DESC LIMIT ?"
    values = [value for each in wanted.values() for value in each]
    rows = _ROWS.read(tx, clause, *values, limit)
    sql = f"SELECT decision_id, body FROM traces WHERE decision_id IN ({blanks(rows)})"
    bodies = dict(tx.rows(sql, *(row.id for row in rows)))
    return [_row_shown(row, about(tx, row, bodies.get(row.id, ""))) for row in rows]


def _conditions(asked: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return the conditions of the filters; the plus keeps them from choosing an index over the window."""
    given = {name: asked[name] for name in FILTERS if asked.get(name)}
    found: dict[str, list[Any]] = {
        f"+decisions.{name} = ?": [given[name]] for name in ("client", "event") if name in given
    }
    if "event" not in given:
        found["+decisions.event <> ?"] = [SELF_TEST]
    if verdict := given.get("verdict"):
        found["decisions.verdict IN (?, ?)"] = [verdict, "silent" if verdict == "no_opinion" else verdict]
    if session := given.get("session"):
        begins = session_beginning(session)
        found["+decisions.session_id >= ? AND +decisions.session_id < ?"] = [begins, f"{begins}\x7f"]
    if project := given.get("project"):
        inside = f"{_escape(project.rstrip('/'))}/%"
        found[f"({_CWD} = ? OR {_CWD} LIKE ? ESCAPE '!' OR {_CWD} LIKE ? ESCAPE '!')"] = [
            project,
            inside,
            f"%/{_escape(project)}",
        ]
    if hook := given.get("hook"):
        columns = ("body", "late")
        either = " OR ".join(f"traces.{column} LIKE ? ESCAPE '!'" for column in columns for _ in run_patterns(hook))
        found[f"({either})"] = [*run_patterns(hook) * len(columns)]
    if text := given.get("text"):
        written = msgspec.json.encode(text).decode()[1:-1]  # as it stands in a JSON text
        found["traces.body LIKE ? ESCAPE '!'"] = [f"%{_escape(written)}%"]
    return found


def _escape(text: str) -> str:
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    return text


def _observed_effect(record: Mapping[str, Any]) -> str:
    """Return what a hook would have done, where hooks are only observed."""
    runs = (run for each in record.get("rounds", ()) for run in each.get("runs", ()))
    remarks = (str(remark) for run in runs for remark in run.get("remarks", ()))
    return next((each for each in remarks if each.startswith(OBSERVED)), "")


def _row_shown(row: Row, subject: About) -> ListedDecision:
    record = subject.record
    reasons = [each for each in record.get("reasons", ()) if isinstance(each, dict)]
    return ListedDecision(
        row=row,
        what=subject.call,
        reason=shorten(record.get("reason", "") or _observed_effect(record), LONGEST),
        hook=str(reasons[0].get("hook", "")) if reasons else "",
        project=subject.cwd,
        agent=str(record.get("agent_type") or record.get("agent_id") or ""),
    )
