"""A daemon that feeds a real PostgreSQL: nothing is lost, nothing is doubled, and no answer waits for the server."""

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from snell.model.protocols import Transaction
from snell.records import decisions, ledger
from snell.records.ledger import Call
from snell.store.postgres import PostgresDatabase
from snell.store.sqlite import SqliteDatabase
from snell.testing.store_contract import do
from tests.fork_server import run_module
from tests.postgres_server import TestDatabase
from tests.process.machine import HOOK, Machine
from tests.waiting import wait_until

pytestmark = pytest.mark.process

BOUND = 60.0
PAGE = Path(__file__).parents[2] / "docs/howto/operate.md"
# The rights that the page names, for a role of this test.
GRANTS = ["CREATE ROLE {role} LOGIN"] + [
    line.removesuffix(";").replace("agents", "{role}")
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("GRANT ")
]


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


def calls(database: SqliteDatabase | PostgresDatabase) -> dict[str, Call]:
    """Return the ledger by the ids of its calls; a call that is there twice fails."""
    found = do(database, ledger.calls_after, 0, 10_000)
    assert len({each.tool_call_id for each in found}) == len(found)
    return {each.tool_call_id: each for each in found}


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
        # The last rows may still be on their way.
        wait_until(lambda: [troubled(machine)[name] for name in ("waiting", "traces", "calls")] == [60] * 3, BOUND)
        shown = run_module("snell", "daemon", "status", cwd=machine.project, env=machine.env()).stdout.decode()
        assert "60 decisions, 60 traces, 60 tool calls not sent yet" in shown
    finally:
        postgres.start()
    send(machine, "back", 20)
    began = time.monotonic()
    wait_until(lambda: len(rows(server)) == 140 and rows(server) == rows(local), BOUND)
    wait_until(lambda: bodies(server) == bodies(local), BOUND)
    wait_until(lambda: len(calls(server)) == 140 and calls(server) == calls(local), BOUND)
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


def test_the_end_of_a_call_follows_its_beginning_to_the_server(
    machine: Machine, postgres: TestDatabase, server: PostgresDatabase
) -> None:
    machine.write("snell.toml", f'packs = ["pack"]\ndatabase = "{postgres.address}"\n')
    call = {"session_id": "s", "tool_use_id": "one", "tool_input": {"command": "touch made"}}
    machine.hook(call)
    wait_until(lambda: [each.status for each in calls(server).values()] == ["running"], BOUND)
    machine.hook({**call, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "", "stderr": ""}})
    wait_until(lambda: [each.status for each in calls(server).values()] == ["succeeded"], BOUND)


def test_the_views_say_which_machine_did_what(
    machine: Machine, postgres: TestDatabase, server: PostgresDatabase
) -> None:
    machine.write("snell.toml", f'packs = ["pack"]\ndatabase = "{postgres.address}"\n')
    send(machine, "s", 2)
    wait_until(lambda: len(calls(server)) == 2 and len(bodies(server)) == 2, BOUND)
    seen = "SELECT host, client, tool, verdict, reason, call FROM team_decisions ORDER BY time"
    refused, silent = server.run(lambda tx: tx.rows(seen))
    assert refused[0].startswith(f"{os.uname().nodename}:")
    assert refused[1:] == ("claude_code", "Bash", "deny", "not that", '{"command":"bad"}')
    assert silent[3:5] == ("no_opinion", None)
    statuses = server.run(lambda tx: tx.rows("SELECT host, tool, status FROM team_calls ORDER BY time"))
    assert statuses == [(refused[0], "Bash", "denied"), (refused[0], "Bash", "running")]


def test_the_queries_of_the_page_work(postgres: TestDatabase, server: PostgresDatabase) -> None:
    blocks = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    is_query = re.compile(r"^(SELECT|DELETE)", re.MULTILINE).search
    queries = [query for block in blocks for query in block.split(";") if is_query(query)]
    assert len(queries) == 5
    for query in queries:
        server.run(lambda tx, query=query: tx.do(query))


def test_a_user_without_the_right_to_create_can_send_once_the_schema_is_there(
    machine: Machine, postgres: TestDatabase, server: PostgresDatabase
) -> None:
    server.open()  # by a user who may create it
    role = f"agent_{os.urandom(4).hex()}"

    def grant(tx: Transaction) -> None:
        for statement in GRANTS:
            tx.do(statement.format(role=role))

    server.run(grant)
    try:
        address = postgres.address.replace("user=postgres", f"user={role}")
        machine.write("snell.toml", f'packs = ["pack"]\ndatabase = "{address}"\n')
        send(machine, "s", 3)
        wait_until(lambda: len(calls(server)) == 3 and len(bodies(server)) == 3, BOUND)
    finally:
        machine.stop()
        server.run(lambda tx: tx.do(f"DROP OWNED BY {role}"))
        server.run(lambda tx: tx.do(f"DROP ROLE {role}"))


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
