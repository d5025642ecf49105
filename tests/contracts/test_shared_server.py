"""A daemon that feeds a real PostgreSQL: nothing is lost, nothing is doubled, and no answer waits for the server."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from snell.records import decisions
from snell.store.postgres import PostgresDatabase
from snell.store.sqlite import SqliteDatabase
from snell.testing.store_contract import do
from tests.fork_server import run_module
from tests.postgres_server import TestDatabase
from tests.process.machine import HOOK, Machine
from tests.waiting import wait_until

pytestmark = pytest.mark.process

BOUND = 60.0


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path)
    yield machine
    machine.stop()


@pytest.fixture
def server(postgres: TestDatabase) -> Iterator[PostgresDatabase]:
    """The schema that daemons use, empty."""
    database = PostgresDatabase(postgres.address)
    database.run(lambda tx: tx.do("DROP SCHEMA snell CASCADE"))
    database.close()
    yield database
    database.close()


def rows(database: SqliteDatabase | PostgresDatabase) -> list[tuple[str, str, str]]:
    return [(row.id, row.session_id, row.verdict) for row in do(database, decisions.rows_after, 0, 10_000)]


def bodies(database: SqliteDatabase | PostgresDatabase) -> dict[str, tuple[str, str]]:
    return {each.decision_id: (each.body, each.late) for each in do(database, decisions.traces_after, 0, 10_000)}


def send(machine: Machine, session: str, number: int) -> float:
    """So many events; the middle of their times in milliseconds."""
    taken = []
    for each in range(number):
        began = time.perf_counter()
        command = "bad" if each % 10 == 0 else "ls"
        machine.hook({"session_id": session, "tool_use_id": f"{session}-{each}", "tool_input": {"command": command}})
        taken.append((time.perf_counter() - began) * 1000)
    return median(taken)


def test_rows_arrive_exactly_once_while_the_server_comes_and_goes(
    machine: Machine, postgres: TestDatabase, server: PostgresDatabase
) -> None:
    address = f"{postgres.address} password=hush-hush"
    machine.write("snell.toml", f'packs = ["pack"]\ndatabase = "{address}"\n')
    local = SqliteDatabase(machine.home / "state/snell.db")
    with_server = send(machine, "on", 60)
    wait_until(lambda: len(rows(server)) == 60, BOUND)
    postgres.stop()
    try:
        without_server = send(machine, "away", 60)
        status = wait_until(lambda: troubled(machine), BOUND)
        assert status["address"] == "PostgreSQL"
        wait_until(lambda: troubled(machine)["waiting"] == 60, BOUND)  # the last row may still be on its way
    finally:
        postgres.start()
    send(machine, "back", 20)
    began = time.monotonic()
    wait_until(lambda: len(rows(server)) == 140 and rows(server) == rows(local), BOUND)
    wait_until(lambda: bodies(server) == bodies(local), BOUND)
    figures = {"rows": 140, "caught_up_s": round(time.monotonic() - began, 1)}
    speeds = {"ms_with": round(with_server, 2), "ms_without": round(without_server, 2)}
    print(json.dumps({"fault": "server away", **figures, **speeds}))
    assert len(bodies(server)) == 140
    assert told_nowhere(machine, "hush-hush")
    local.close()


def troubled(machine: Machine) -> dict | None:
    database = machine.ask('{"cmd": "status"}')[0]["data"]["database"]
    return database if database["problem"].startswith("rows wait on this machine: ") else None


def told_nowhere(machine: Machine, secret: str) -> bool:
    """Not in any file but the one where a person wrote it, and not in what people are shown."""
    words = (["daemon", "status"], ["daemon", "status", "--json"], ["settings"], ["settings", "--json"], ["doctor"])
    told = b""
    for each in words:
        done = run_module("snell", *each, cwd=machine.project, env=machine.env())
        told += done.stdout + done.stderr
    files = [path for path in machine.home.rglob("*") if path.is_file() and path.name != "snell.toml"]
    return secret.encode() not in told + b"".join(path.read_bytes() for path in files)


def test_what_a_stopped_daemon_has_not_sent_goes_after_the_next_start(
    machine: Machine, postgres: TestDatabase, server: PostgresDatabase
) -> None:
    send(machine, "before", 5)  # by a daemon that knows of no server
    machine.stop()
    machine.write("snell.toml", f'packs = ["pack"]\ndatabase = "{postgres.address}"\n')
    send(machine, "after", 5)
    wait_until(lambda: len(rows(server)) == 10, BOUND)


@pytest.mark.parametrize("address", ["postgresql://u:hush@", "nonsense hush", "host=/nowhere/at/all password=hush"])
def test_an_address_that_leads_nowhere_costs_no_caller_an_answer(machine: Machine, address: str) -> None:
    machine.write("snell.toml", f'packs = ["pack"]\ndatabase = "{address}"\n')
    assert machine.reason({"tool_input": {"command": "bad"}}) == "not that"
    status = wait_until(lambda: troubled(machine), BOUND)
    assert status["waiting"] == 1
    assert told_nowhere(machine, "hush")


def test_old_rows_wait_for_a_server_that_is_away(machine: Machine) -> None:
    machine.write("snell.toml", 'packs = ["pack"]\ndatabase = "host=/nowhere"\n')
    send(machine, "old", 3)
    machine.stop()
    local = SqliteDatabase(machine.home / "state/snell.db")
    local.run(lambda tx: tx.do("UPDATE decisions SET at = 0"))
    machine.hook()
    looks_for(machine, 2.5)
    assert len(rows(local)) == 4
    machine.stop()
    machine.write("snell.toml", 'packs = ["pack"]\n')
    machine.hook()
    wait_until(lambda: len(rows(local)) == 2, BOUND)  # without a server no machine needs them
    local.close()


def looks_for(machine: Machine, seconds: float) -> None:
    """Let the daemon tidy up a few times."""
    until = time.monotonic() + seconds
    wait_until(lambda: machine.ask('{"cmd": "ping"}') and time.monotonic() > until)
