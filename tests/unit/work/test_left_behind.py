"""Calls of a process that was killed before it wrote them down."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.stores.sqlite import SqliteDatabase
from snell.work import decisions, ledger, left_behind
from snell.work.decisions import Row
from snell.work.ledger import Call


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    made = SqliteDatabase(tmp_path / "snell.db")
    yield made
    made.close()


def row(number: int, **fields: str) -> Row:
    usual = {"session_id": "s", "event": "PreToolUse", "tool": "Bash", "tool_use_id": f"t{number}"}
    return Row(id=f"d{number}", at=number, **{**usual, **fields})


def written(database: SqliteDatabase, *rows: Row) -> dict[str, str]:
    for each in rows:
        database.run(lambda tx, each=each: decisions.add(tx, each))
    database.run(lambda tx: left_behind.write_down(tx, rows))
    return {call.tool_call_id: call.status for call in database.run(ledger.recent)}


def test_every_decision_before_a_tool_gets_a_call_as_it_was_answered(database: SqliteDatabase):
    found = written(
        database,
        row(1),
        row(2, verdict="deny"),
        row(3, verdict="ask"),
        row(4, event="PostToolUse"),
        row(5, tool_use_id=""),
        row(6, session_id="a/b"),
    )
    odd = next(id_ for id_ in found if id_.startswith("#"))
    assert found == {"s/t1": "running", "s/t2": "denied", "s/t3": "prepared", odd: "running"}


def test_a_call_that_is_written_down_stays_as_it_is(database: SqliteDatabase):
    known = Call(tool_call_id="s/t1", status="succeeded", intent='["a"]')
    database.run(lambda tx: ledger.begin(tx, known))
    assert written(database, row(1)) == {"s/t1": "succeeded"}


def test_where_no_ledger_is_kept_none_is_begun(database: SqliteDatabase):
    assert written(database, *(row(number) for number in range(left_behind.ENOUGH))) == {}
