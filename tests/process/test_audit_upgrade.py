"""A store of an earlier version: its rows get their seals in the background, and no client waits for that."""

import json
import statistics
import time
from pathlib import Path

import apsw
import pytest

from snell.records import decisions, ledger
from snell.records.audit_log import AuditLog
from snell.records.decisions import Row
from snell.records.ledger import Call, End
from snell.runtime.app import Runtime
from snell.store.migrate import steps
from snell.store.sqlite import SqliteDatabase
from snell.system.paths import places
from tests.case_counts import cases
from tests.fork_server import run_snell
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

SEALS = next(step.number for step in steps("sqlite") if any("row_tallies" in text for text in step.statements))
BEFORE_SEALS = tuple(step for step in steps("sqlite") if step.number < SEALS)
ROWS = cases(1_500, 20_000)
EVENTS = 100


def fill(state: Path, rows: int) -> None:
    """Write the store of an earlier version, with its chain."""
    database = SqliteDatabase(state / "snell.db", wanted=BEFORE_SEALS)
    now = time.time_ns() // 1_000_000 - 60_000

    def add(tx) -> None:
        for number in range(rows):
            decisions.add(tx, Row(id=f"{number:06x}-d", at=now, session_id="old", tool="Bash"))
            decisions.add_trace(tx, f"{number:06x}-d", f'{{"number":{number}}}')
            call = Call(tool_call_id=f"old/{number}", run_id="r", created_at=now, raw_tool_name="Bash")
            ledger.finish(tx, call, End(status="succeeded", at=now))

    database.run(add)
    audit_log = AuditLog(database, state)
    audit_log.keep_up(at_once=True)
    assert audit_log.problem == ""
    database.close()


def unsealed(state: Path) -> int:
    connection = apsw.Connection(str(state / "snell.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return sum(
            connection.execute(f"SELECT COUNT(*) FROM {table} WHERE seal = x''").fetchall()[0][0]
            for table in ("decisions", "traces", "tool_calls")
        )
    finally:
        connection.close()


@pytest.mark.timeout(600)
def test_rows_of_an_earlier_version_get_seals_between_events_and_readers_never_fail(machine: Machine):
    state = machine.home / "state"
    fill(state, ROWS)
    machine.hook()
    assert machine.status()["pid"]
    seen = [unsealed(state)]
    assert seen[0] > 0
    while seen[-1]:
        for words in (("log", "--json"), ("ledger", "list", "--json"), ("audit", "verify", "--all", "--json")):
            code, out, err = run_snell(*words, env=machine.env(), cwd=machine.project)
            assert (code, err) == (0, ""), (words, out)
        found = json.loads(out)
        assert (found["integrity"], found["completeness"]) == ([], [])
        seen.append(unsealed(state))
    wait_until(lambda: json.loads(machine.snell("audit", "verify", "--json"))["unsealed"] == 0, 60)
    connection = apsw.Connection(str(state / "snell.db"))
    connection.execute("UPDATE traces SET body = '{}', seal = x'' WHERE seq = 1")
    connection.close()
    assert run_snell("audit", "verify", "--all", env=machine.env(), cwd=machine.project)[0] == 1


@pytest.mark.timeout(600)
def test_while_events_come_in_the_rows_of_an_earlier_version_wait(machine: Machine):
    """A daemon that has events every few milliseconds seals a handful of rows at a time, and the rest afterwards."""
    state = machine.home / "state"
    fill(state, ROWS)
    machine.hook()
    machine.status()
    wait_until(lambda: _has_column(state), 60)
    before, until = unsealed(state), time.monotonic() + 6
    while time.monotonic() < until:
        assert machine.send() is not None
    # One transaction of four rows for each table that is chained or sealed, in each of some seven rounds.
    assert before - unsealed(state) <= 200
    wait_until(lambda: unsealed(state) == 0, 300)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_an_event_costs_at_most_a_fifth_more_meanwhile(machine: Machine, figure):
    state = machine.home / "state"
    fill(state, 20_000)
    machine.hook()
    machine.status()
    wait_until(lambda: _has_column(state), 60)

    def milliseconds() -> float:
        quiet = time.monotonic() + 0.25  # it goes on when there was no event for a moment: the worst case
        wait_until(lambda: time.monotonic() > quiet, 10)
        began_at = time.perf_counter()
        assert machine.send() is not None
        return (time.perf_counter() - began_at) * 1000

    meanwhile = []
    while (left := unsealed(state)) and len(meanwhile) < EVENTS:
        meanwhile.append(milliseconds())
    assert left, "it ended before enough was measured"
    wait_until(lambda: unsealed(state) == 0, 1200)
    alone = [milliseconds() for _ in range(EVENTS)]
    ratio = statistics.median(meanwhile) / statistics.median(alone)
    figure(test="audit", fault="catching up after an upgrade", events=len(meanwhile), ratio=round(ratio, 2))
    assert ratio <= 1.2


def _has_column(state: Path) -> bool:
    connection = apsw.Connection(str(state / "snell.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return "seal" in [row[1] for row in connection.execute("PRAGMA table_info(traces)")]
    finally:
        connection.close()


def test_a_runtime_closes_although_a_table_was_removed_which_the_audit_reports(tmp_path: Path):
    env = {"HOME": str(tmp_path), "SNELL_HOME": str(tmp_path / "snell")}
    runtime = Runtime.for_user(env, places(env))
    runtime.fire("PreToolUse", session_id="s", tool_name="Bash", tool_input={"command": "ls"})
    connection = apsw.Connection(str(tmp_path / "snell/state/snell.db"))
    connection.set_busy_timeout(20_000)
    connection.execute("DROP TABLE memories")
    connection.close()
    runtime.close()
    assert "the table `memories` was removed" in run_snell("audit", "verify", env=env, cwd=tmp_path)[1]
