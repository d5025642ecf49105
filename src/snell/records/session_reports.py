"""Summarise a session from its decisions, for users and for the next session."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.records import decisions
from snell.records.decisions import SEARCHED, Row

MOST_DECISIONS = 5_000  # decisions of one session that are read, the newest first
REFUSALS = 20


class SessionSummary(Struct, frozen=True, kw_only=True):
    """One line about a session. Times are milliseconds since 1970."""

    session_id: str
    client: str
    first: int
    last: int
    decisions: int
    refused: int


class Refusal(Struct, frozen=True, kw_only=True):
    decision: str
    tool: str
    verdict: str
    reason: str = ""


class SessionReport(Struct, frozen=True, kw_only=True):
    summary: SessionSummary
    tools: dict[str, int] = {}
    verdicts: dict[str, int] = {}
    rewritten: int = 0
    failures: int = 0
    refusals: tuple[Refusal, ...] = ()  # the newest first


def recent_sessions(tx: Transaction, limit: int = 10) -> list[SessionSummary]:
    """Return the sessions with the most recent decisions, newest first."""
    sql = (
        "SELECT session_id, max(client), min(at), max(at), count(*),"
        " sum(CASE WHEN verdict IN ('deny', 'ask') THEN 1 ELSE 0 END) FROM decisions"
        f" WHERE session_id <> '' AND seq > (SELECT COALESCE(MAX(seq), 0) - {SEARCHED} FROM decisions)"
        " GROUP BY session_id ORDER BY max(seq) DESC LIMIT ?"
    )
    names = SessionSummary.__struct_fields__
    return [SessionSummary(**dict(zip(names, row, strict=True))) for row in tx.rows(sql, limit)]


def report_of(tx: Transaction, session_id: str) -> SessionReport | None:
    """Return the report of a session; None if it is unknown."""
    rows = decisions.recent(tx, session=session_id, limit=MOST_DECISIONS)
    if not rows:
        return None
    refused = [row for row in rows if row.verdict in ("deny", "ask")]
    return SessionReport(
        summary=SessionSummary(
            session_id=session_id,
            client=rows[0].client,
            first=rows[-1].at,
            last=rows[0].at,
            decisions=len(rows),
            refused=len(refused),
        ),
        tools=dict(Counter(row.tool for row in rows if row.tool and row.event == "PreToolUse").most_common()),
        verdicts=dict(Counter(row.verdict for row in rows).most_common()),
        rewritten=sum(row.rewritten for row in rows),
        failures=sum(row.failures for row in rows),
        refusals=tuple(_refusal(tx, row) for row in refused[:REFUSALS]),
    )


def report_as_markdown(report: SessionReport) -> str:
    about = report.summary
    when = f"{about.client or 'some client'}, {_time(about.first)} to {_time(about.last)}"
    counts = f"{about.decisions} decisions, {about.refused} refused or asked about"
    more = f"{report.rewritten} changed, {report.failures} failures of hooks"
    lines = [f"# Session {about.session_id}", "", f"{when}: {counts}, {more}."]
    if report.tools:
        lines += ["", "Tools: " + ", ".join(f"{name} {count}" for name, count in report.tools.items())]
    if report.refusals:
        lines += ["", "## Refused or asked about", ""]
        lines += [f"- {each.verdict} `{each.tool}`: {each.reason} (`{each.decision}`)" for each in report.refusals]
    return "\n".join(lines) + "\n"


def _refusal(tx: Transaction, row: Row) -> Refusal:
    trace = decisions.trace(tx, row.id)
    record: dict[str, Any] = msgspec.json.decode(trace.body) if trace and trace.body else {}
    reason = " ".join(str(record.get("reason", "")).split())
    return Refusal(decision=row.id, tool=row.tool, verdict=row.verdict, reason=reason[:400])


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
