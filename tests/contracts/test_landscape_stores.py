"""Reports of sessions and joined memories are the same on every backend."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from snell.memory import rows
from snell.memory.consolidation import consolidate
from snell.memory.remember import remember
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft
from snell.model.protocols import Database, Transaction
from snell.records import decisions
from snell.records.decisions import Row
from snell.records.session_reports import (
    Refusal,
    SessionReport,
    SessionSummary,
    recent_sessions,
    report_as_markdown,
    report_of,
)
from snell.store.postgres import PostgresDatabase
from snell.store.sqlite import SqliteDatabase

DECISIONS = [
    Row(id="1", at=1_000, session_id="a", client="claude_code", event="SessionStart"),
    Row(id="2", at=2_000, session_id="a", client="claude_code", event="PreToolUse", tool="Bash", verdict="deny"),
    Row(id="3", at=3_000, session_id="b", client="cursor", event="PreToolUse", tool="Edit", rewritten=1),
    Row(id="4", at=61_000, session_id="a", client="claude_code", event="PreToolUse", tool="Bash", failures=2),
    Row(id="5", at=62_000, event="PreToolUse", tool="Bash"),
]
OF_A = SessionSummary(session_id="a", client="claude_code", first=1_000, last=61_000, decisions=3, refused=1)
OF_B = SessionSummary(session_id="b", client="cursor", first=3_000, last=3_000, decisions=1, refused=0)


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    database: Database = SqliteDatabase(tmp_path / "snell.db")
    if request.param == "postgres":
        on_postgres: Callable[[str], PostgresDatabase] = request.getfixturevalue("on_postgres")
        database = on_postgres("landscape")
    yield database
    database.close()


def test_a_session_is_told_from_its_decisions(database: Database) -> None:
    def told(tx: Transaction) -> tuple[list[SessionSummary], SessionReport | None, SessionReport | None]:
        decisions.add_many(tx, DECISIONS)
        decisions.add_trace(tx, "2", msgspec.json.encode({"reason": "it overwrites\nothers' work"}).decode())
        return recent_sessions(tx), report_of(tx, "a"), report_of(tx, "nope")

    summaries, report, unknown = database.run(told)
    assert (summaries, unknown) == ([OF_A, OF_B], None)
    assert report == SessionReport(
        summary=OF_A,
        tools={"Bash": 2},
        verdicts={"no_opinion": 2, "deny": 1},
        failures=2,
        refusals=(Refusal(decision="2", tool="Bash", verdict="deny", reason="it overwrites others' work"),),
    )
    assert report_as_markdown(report) == (
        "# Session a\n\n"
        "claude_code, 1970-01-01 00:00 UTC to 1970-01-01 00:01 UTC: 3 decisions, 1 refused or asked about, 0 changed,"
        " 2 failures of hooks.\n\n"
        "Tools: Bash 2\n\n"
        "## Refused or asked about\n\n"
        "- deny `Bash`: it overwrites others' work (`2`)\n"
    )


def test_memories_that_say_the_same_are_joined(database: Database) -> None:
    texts = [
        "The orders database is PostgreSQL because of load",
        "The orders database is PostgreSQL, because of the load",
    ]

    def joined(tx: Transaction) -> list[str]:
        for at, text in enumerate(texts, start=1):
            remember(tx, Draft(content=text, project="p", at=at), shortlist_of(database), similar=2, is_gated=False)
        consolidate(
            tx, shortlist_of(database), project="p", namespace="default", strategy="merge_content", dry_run=False
        )
        return [memory.content for memory in rows.list_memories(tx, project="p")]

    assert database.run(joined) == ["\n\n".join(texts)]
