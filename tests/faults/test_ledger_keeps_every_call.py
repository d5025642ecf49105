"""Every tool call that was decided has its ledger row: after a flood, a locked database and a killed daemon."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from tests.faults.counts import Figure, times
from tests.fork_server import Forked, run_snell, start_module
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

ROOT = Path(__file__).resolve().parent.parent.parent
AGENTS = 20
DECIDED = "SELECT count(*) FROM decisions WHERE event = 'PreToolUse'"
CALLS = "SELECT count(*), count(DISTINCT tool_call_id), count(DISTINCT decision_id) FROM tool_calls"


SLOW = """
import time
from snell import watches

@watches("PreToolUse")
def slow(call):
    time.sleep(0.003)
"""


@times("events", 3_000, 30_000)
def test_a_flood_leaves_no_call_without_its_row(machine: Machine, events: int, figure: Figure) -> None:
    """A slow watcher makes sure that traces are shed, however slow the agents are."""
    machine.write("pack/slow.py", SLOW)
    machine.hook()
    for agent in greedy_agents(machine, events):
        assert agent.wait(500) == 0
    wait_until(lambda: counted(machine) == whole(events + 1), 60)
    (without_input,) = rows(machine, "SELECT count(*) FROM tool_calls WHERE request_ref = ''")
    shed = machine.status()["shed"]
    figure(test="ledger", fault="flood", events=events, shed=shed, missing=0)
    assert (shed > 0, without_input, verify(machine)) == (True, (0,), (0, []))


@times("events", 1_000, 20_000)
def test_a_locked_database_leaves_no_call_without_its_row(machine: Machine, events: int, figure: Figure) -> None:
    machine.hook()
    with locked(machine):
        for agent in greedy_agents(machine, events):
            assert agent.wait(500) == 0
        decided, *_ = counted(machine)
    wait_until(lambda: counted(machine) == whole(events + 1), 60)
    figure(test="ledger", fault="locked database", events=events, written_meanwhile=decided, missing=0)
    assert decided < events, "the database was not locked"
    assert (machine.status()["journal"]["lost"], verify(machine)) == (0, (0, []))


def test_a_call_in_a_short_lock_keeps_its_input_and_its_end(machine: Machine) -> None:
    machine.hook()
    with locked(machine):
        for number in range(50):
            call = {"tool_use_id": f"t{number}", "tool_input": {"command": f"echo {number}"}}
            machine.send(call)
            machine.send({**call, "hook_event_name": "PostToolUse", "tool_response": {"stdout": f"{number}"}})
        wait_until(lambda: machine.status()["journal"]["problem"])
    ended = "SELECT count(*) FROM tool_calls WHERE status = 'succeeded' AND request_ref <> '' AND response_ref <> ''"
    wait_until(lambda: rows(machine, ended) == [(50,)])


@pytest.mark.parametrize("again", [("ledger", "list"), ("audit", "verify"), ("doctor",)])
def test_a_killed_daemon_leaves_no_call_without_its_row(machine: Machine, again: tuple[str, ...]) -> None:
    machine.hook()
    wait_until(lambda: rows(machine, "SELECT count(*) FROM audit_chain") != [(0,)])
    agents = greedy_agents(machine, 100_000)
    wait_until(lambda: machine.status()["served"] > 500, 60)
    machine.kill()
    for agent in agents:
        agent.kill()
        agent.wait(60)
    code, out = snell(machine, *again)
    decided, calls, *_ = counted(machine)
    assert (calls, "no ledger row" in out) == (decided, False)
    assert code == 0 or again == ("doctor",), out


def test_a_row_that_is_gone_is_reported(machine: Machine) -> None:
    for number in range(3):
        machine.hook({"tool_use_id": f"t{number}"})
    wait_until(lambda: counted(machine) == whole(3))
    assert verify(machine) == (0, [])
    assert "no ledger row" not in snell(machine, "doctor")[1]
    change(machine, "DELETE FROM tool_calls WHERE tool_call_id = 's/t1'")
    (decision,) = rows(machine, "SELECT id FROM decisions WHERE tool_use_id = 't1'")
    said = f"1 tool call has a decision but no ledger row: `s/t1` (`snell why {decision[0]}`)"
    code, found = verify(machine)
    assert (code, said in found) == (1, True)
    assert said in snell(machine, "doctor")[1]
    machine.stop()
    machine.hook({"tool_use_id": "t9"})
    assert said in verify(machine)[1], "the next daemon does not make it up again"


@pytest.mark.parametrize(
    ("settings", "event"),
    [
        ("[pack.ledger]\nenabled = false\n", {}),
        ("disable_all_hooks = true\n", {}),
        ("", {"hook_event_name": "UserPromptSubmit", "prompt": "go on"}),
    ],
    ids=["the ledger is off", "hooks are off", "no tool"],
)
def test_a_call_that_the_ledger_does_not_keep_is_not_missed(machine: Machine, settings: str, event: dict) -> None:
    machine.write("snell.toml", settings)
    for number in range(3):
        machine.hook({"tool_use_id": f"t{number}", **event})
    machine.status()
    machine.stop()
    assert verify(machine) == (0, [])
    assert "no ledger row" not in snell(machine, "doctor")[1]
    assert rows(machine, "SELECT count(*) FROM tool_calls") == [(0,)]


def test_a_call_that_was_refused_or_came_twice_is_not_missed(machine: Machine) -> None:
    machine.hook({"tool_use_id": "t1", "tool_input": {"command": "bad"}})
    for session in ("s", "a/b", "ä"):
        for command in ("ls", "ls", "ls -a"):
            machine.hook({"session_id": session, "tool_use_id": "a/t2", "tool_input": {"command": command}})
    machine.stop()
    assert verify(machine) == (0, [])
    assert rows(machine, "SELECT count(*) FROM tool_calls") == [(4,)]


def greedy_agents(machine: Machine, events: int) -> list[Forked | subprocess.Popen[bytes]]:
    words = ("tests.faults.flood", str(machine.home), str(machine.project), str(events // AGENTS))
    with open(os.devnull, "r+b") as nothing:
        streams = (nothing.fileno(),) * 3
        return [start_module(*words, cwd=ROOT, env=os.environ, streams=streams) for _ in range(AGENTS)]


@contextmanager
def locked(machine: Machine) -> Iterator[None]:
    """Another program writes, and does not end."""
    connection = apsw.Connection(str(machine.home / "state/snell.db"))
    connection.set_busy_timeout(20_000)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def whole(calls: int) -> tuple[int, ...]:
    """Each decision has one call, and each call one decision."""
    return (calls,) * 4


def counted(machine: Machine) -> tuple[int, ...]:
    return (*rows(machine, DECIDED)[0], *rows(machine, CALLS)[0])


def rows(machine: Machine, sql: str) -> list[tuple]:
    return with_database(machine, lambda connection: connection.execute(sql).fetchall())


def change(machine: Machine, sql: str) -> None:
    with_database(machine, lambda connection: connection.execute(sql))


def with_database(machine: Machine, work: Callable[[apsw.Connection], list]) -> list:
    connection = apsw.Connection(str(machine.home / "state/snell.db"))
    connection.set_busy_timeout(20_000)
    try:
        return work(connection)
    finally:
        connection.close()


def verify(machine: Machine) -> tuple[int, list[str]]:
    code, out = snell(machine, "audit", "verify", "--json")
    found = json.loads(out)
    return code, [*found["integrity"], *found["completeness"]]


def snell(machine: Machine, *words: str) -> tuple[int, str]:
    code, out, err = run_snell(*words, env=machine.env(), cwd=machine.project)
    return code, out + err
