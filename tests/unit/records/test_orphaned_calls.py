"""Calls of a process that was killed before it wrote them down."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from snell.audit import compare as audit_check
from snell.records import audit_chain, decisions, ledger, orphaned_calls
from snell.records.decisions import Row
from snell.records.ledger import Call
from snell.records.retention import DAY_MS
from snell.store.sqlite import SqliteDatabase


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    made = SqliteDatabase(tmp_path / "snell.db")
    yield made
    made.close()


def row(number: int, **fields: Any) -> Row:
    usual = {"session_id": "s", "event": "PreToolUse", "tool": "Bash", "tool_use_id": f"t{number}", "in_ledger": 1}
    return Row(id=f"d{number}", at=number, **{**usual, **fields})


def written(database: SqliteDatabase, *rows: Row) -> dict[str, str]:
    for each in rows:
        database.run(lambda tx, each=each: decisions.add(tx, each))
    database.run(lambda tx: orphaned_calls.add_missing_calls(tx, rows))
    return {call.tool_call_id: call.status for call in database.run(ledger.recent)}


def test_every_decision_before_a_tool_gets_a_call_as_it_was_answered(database: SqliteDatabase):
    found = written(
        database,
        row(1),
        row(2, verdict="deny"),
        row(3, verdict="ask"),
        row(4, event="PostToolUse", in_ledger=0),
        row(5, tool_use_id=""),
        row(6, session_id="a/b"),
    )
    odd = next(id_ for id_ in found if id_.startswith("#"))
    known = {"s/t1": "running", "s/t2": "denied", "s/t3": "prepared", "s/d5": "running"}
    assert found == {**known, odd: "running"}


def test_a_call_that_is_written_down_stays_as_it_is(database: SqliteDatabase):
    known = Call(tool_call_id="s/t1", status="succeeded", intent='["a"]')
    database.run(lambda tx: ledger.begin(tx, known))
    assert written(database, row(1)) == {"s/t1": "succeeded"}


def test_where_no_ledger_is_kept_none_is_begun(database: SqliteDatabase):
    assert written(database, *(row(number, in_ledger=0) for number in range(3))) == {}


def test_a_call_that_is_in_the_audit_chain_was_deleted_and_is_not_written_again(database: SqliteDatabase):
    written(database, row(1))
    database.run(lambda tx: audit_chain.extend(tx, b"key"))
    database.run(lambda tx: tx.do("DELETE FROM tool_calls"))
    assert written(database, row(1), row(2)) == {"s/t2": "running"}


def test_a_call_that_was_written_from_its_decision_gets_its_details_when_they_come(database: SqliteDatabase):
    written(database, row(1))
    whole = Call(tool_call_id="s/t1", status="running", normalized_args_hash="h", intent='["a"]', request_ref="r")
    database.run(lambda tx: ledger.begin(tx, whole))
    (found,) = database.run(ledger.recent)
    assert found == msgspec.structs.replace(whole, revision=found.revision)


def test_details_that_come_when_the_call_is_chained_already_are_no_tampering(database: SqliteDatabase):
    key = b"k" * 32
    written(database, row(1))
    database.run(lambda tx: audit_chain.extend(tx, key))
    late = Call(tool_call_id="s/t1", status="running", updated_at=1, intent='["a"]', normalized_args_hash="h")
    assert database.run(lambda tx: ledger.begin(tx, late))
    assert database.run(lambda tx: audit_check.verify(tx, key, [])).integrity == ()


def test_missing_calls_are_written_a_few_at_a_time_from_where_they_were_last_compared(database: SqliteDatabase):
    number = 2 * orphaned_calls.AT_ONCE + 1
    for each in range(1, number + 1):
        database.run(lambda tx, each=each: decisions.add(tx, row(each)))
    rounds = [database.run(lambda tx: orphaned_calls.catch_up(tx, number)) for _ in range(3)]
    calls = database.run(lambda tx: ledger.recent(tx, limit=1000))
    assert (rounds, len(calls), database.run(orphaned_calls.last_compared)) == ([True, True, False], number, number)


def test_a_decision_that_is_about_to_expire_is_not_compared(database: SqliteDatabase):
    written(database, row(1, in_ledger=0))
    database.run(lambda tx: decisions.add(tx, row(2)))
    at_once, later = (
        database.run(lambda tx, now=now: orphaned_calls.find_orphans(tx, now)) for now in (3, 179 * DAY_MS + 3)
    )
    assert ([each.id for each in at_once], later) == (["d2"], [])
