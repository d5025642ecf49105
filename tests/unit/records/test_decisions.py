"""Questions about decisions stay quick however many there are; what they answer is in the store contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.model.protocols import Transaction
from snell.records import decisions, retention
from snell.records.decisions import Row
from snell.store.sqlite import SqliteDatabase


class Planner:
    """Asks SQLite how it would find the rows."""

    def __init__(self, tx: Transaction) -> None:
        self.tx = tx
        self.plans: list[str] = []

    def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        self.plans += [str(plan[-1]) for plan in self.tx.rows(f"EXPLAIN QUERY PLAN {sql}", *values)]
        return self.tx.rows(sql, *values)

    def do(self, sql: str, *values: object) -> int:
        return self.tx.do(sql, *values)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "state" / "snell.db")
    rows = [Row(id=f"{each:05}", at=each, session_id=f"s{each % 7}", request_key=f"k{each}") for each in range(500)]
    database.run(lambda tx: decisions.add_many(tx, rows))
    yield database
    database.close()


@pytest.mark.parametrize(
    "question",
    [
        lambda tx: decisions.find(tx, "last"),
        lambda tx: decisions.find(tx, "0012"),
        lambda tx: decisions.recent(tx, session="s3"),
        lambda tx: decisions.recent(tx, session="s3", verdict="deny", before=100),
        lambda tx: decisions.recent(tx, hook="h"),
        lambda tx: decisions.rows_after(tx, 100, 10),
        lambda tx: decisions.traces_after(tx, 100, 10),
        lambda tx: retention.expire_decisions(tx, now=0),
        lambda tx: retention.expire_traces(tx, now=0),
    ],
)
def test_no_question_sorts_or_reads_the_whole_table(database: SqliteDatabase, question) -> None:
    def planned(tx: Transaction) -> list[str]:
        planner = Planner(tx)
        question(planner)
        return planner.plans

    plans = database.run(planned)
    assert plans
    unbounded = [plan for plan in plans if "TEMP B-TREE" in plan or (plan.startswith("SCAN") and "USING" not in plan)]
    # The last rows in the order of the table are a scan that ends with the limit.
    assert [
        plan for plan in unbounded if plan not in {"SCAN t", "SCAN traces", "SCAN decisions", "SCAN CONSTANT ROW"}
    ] == []


def test_a_question_about_a_session_uses_its_index(database: SqliteDatabase) -> None:
    plans = database.run(lambda tx: _plans(tx, lambda planner: decisions.recent(planner, session="s3", before=400)))
    assert plans == ["SEARCH decisions USING INDEX decisions_of_session (session_id=? AND seq<?)"]


def _plans(tx: Transaction, question) -> list[str]:
    planner = Planner(tx)
    question(planner)
    return planner.plans
