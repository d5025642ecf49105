"""A daemon that is there and says nothing holds no caller up: one watches it, the others decide without it."""

import json
import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from snell.daemon.client import end_if_hung
from snell.runtime.database_journal import StoreJournal
from snell.store.sqlite import SqliteDatabase
from snell.system.version import our_version
from tests.process.machine import Machine
from tests.process.shim_sandbox import build_hook
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = pytest.mark.real_start

ROOT = Path(__file__).resolve().parents[2]
SHIM = ROOT / "src/snell/daemon/shim.py"
PATIENT = f"""
import sys
sys.path.insert(0, '{ROOT / "src"}')
from snell.daemon.python_form import hang
hang.PROBE_SECONDS = 60.0
from snell.daemon.python_form.event import main
sys.exit(main(sys.argv[1], sys.argv[2:]))
"""
TRACED = "there is a trace"


@pytest.fixture(params=["native", "python"])
def form(request: pytest.FixtureRequest) -> str:
    """`snell-hook` has two forms."""
    return str(request.param)


@pytest.fixture
def either(machine: Machine, form: str) -> Machine:
    if form == "python":
        use_python(machine, f"{SHIM} {our_version()}")
    return machine


@pytest.fixture
def patient(machine: Machine, form: str, tmp_path: Path) -> Machine:
    """A machine whose `snell-hook` gives a silent daemon a minute to come back, whatever else this machine does."""
    if form == "python":
        use_python(machine, f'-c "{PATIENT}" {our_version()}')
    else:
        machine.hook_program = tmp_path / "snell-hook"
        options = ("-DSNELL_PROBE_MS=60000", f'-DSNELL_PYTHON="{sys.executable}"')
        if not build_hook().compiled(machine.hook_program, our_version(), *options):
            pytest.skip("there is no C compiler")
    return machine


def use_python(machine: Machine, words: str) -> None:
    machine.hook_program = machine.home / "snell-hook"
    machine.hook_program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {words} "$@"\n', encoding="utf-8")
    machine.hook_program.chmod(0o755)


def test_one_that_was_stopped_is_killed_and_the_next_event_starts_another(machine: Machine) -> None:
    machine.hook()
    pid = machine.pid
    os.kill(pid, signal.SIGSTOP)
    assert end_if_hung(machine.home / "run") == pid
    wait_until(lambda: pid not in machine.daemons())
    assert machine.reason({"tool_input": {"command": "bad"}}) == "not that"
    assert machine.pid != pid


def test_one_that_answers_is_left_alone(machine: Machine) -> None:
    machine.hook()
    pid = machine.pid
    assert end_if_hung(machine.home / "run") is None
    assert machine.pid == pid


def test_without_a_daemon_there_is_none_to_end(machine: Machine) -> None:
    assert end_if_hung(machine.home / "run") is None


def test_events_go_on_without_one_that_was_stopped_and_it_is_replaced(either: Machine) -> None:
    either.hook()
    pid = either.pid
    os.kill(pid, signal.SIGSTOP)
    events = [{"tool_use_id": f"t{number}", "tool_input": {"command": "bad"}} for number in range(2)]
    with ThreadPoolExecutor(2) as agents:
        replies = list(agents.map(either.hook, events))
    assert [verdict(out) for _, out, _ in replies] == ["deny", "deny"]
    assert all("the daemon does not answer; deciding without the daemon" in err for _, _, err in replies)
    wait_until(lambda: pid not in either.daemons())
    assert either.hook({"tool_use_id": "t9"}) == (0, "", "")
    assert either.pid != pid
    wait_until(lambda: recorded(either, "t") == {name: [TRACED] for name in ("t0", "t1", "t9")})


def test_one_that_goes_on_decides_and_records_nothing_that_others_did(patient: Machine) -> None:
    """Of the events that it finds in its queue, none is its own any more."""
    patient.hook()
    pid = patient.pid
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(4) as agents:
        events = [{"tool_use_id": f"t{number}", "tool_input": {"command": "bad"}} for number in range(4)]
        replies = list(agents.map(patient.hook, events))
        prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "go on", "session_id": "p"}
        replies += agents.map(patient.hook, [prompt])
    os.kill(pid, signal.SIGCONT)
    patient.hook({"tool_use_id": "t4"})
    assert patient.pid == pid, "it is the one that was stopped"
    assert [verdict(out) for _, out, _ in replies] == ["deny"] * 4 + [""]
    wait_until(lambda: recorded(patient, "t") == {f"t{number}": [TRACED] for number in range(5)})
    assert sessions(patient) == {"s": 6, "p": 1}


def test_a_row_that_was_committed_while_the_caller_went_on_is_taken_back(patient: Machine) -> None:
    """The daemon is stopped while a hook runs for the event, and finds out only when it sends the reply."""
    gate, begun = patient.home / "gate", patient.home / "begun"
    os.mkfifo(gate)
    command = f"echo >> {begun}; [ $(wc -l < {begun}) -gt 1 ] || cat {gate}"
    patient.write("snell.toml", f'[[hooks]]\nevent="PreToolUse"\nmatcher="Slow"\ntimeout=60\ncommand="{command}"\n')
    patient.hook()
    pid = patient.pid
    with ThreadPoolExecutor(1) as agents:
        reply = agents.submit(patient.hook, {"tool_name": "Slow", "tool_input": {}, "tool_use_id": "t1"})
        wait_until(begun.exists)
        os.kill(pid, signal.SIGSTOP)
        code, _, err = reply.result(60)
    assert (code, "the daemon does not answer" in err) == (0, True)
    os.kill(pid, signal.SIGCONT)
    gate.write_text("", encoding="utf-8")
    patient.hook({"tool_use_id": "t2"})
    assert patient.pid == pid
    wait_until(lambda: recorded(patient, "t") == {"t1": [TRACED], "t2": [TRACED]})
    patient.stop()
    assert recorded(patient, "t") == {"t1": [TRACED], "t2": [TRACED]}


def test_what_is_decided_while_a_stopped_daemon_holds_the_database_is_recorded_later(patient: Machine) -> None:
    patient.hook()
    pid = patient.pid
    database = SqliteDatabase(patient.home / "state/snell.db")
    database.open()
    connection = database._open_connection()
    connection.execute("BEGIN IMMEDIATE")  # as if by the daemon
    os.kill(pid, signal.SIGSTOP)
    assert verdict(patient.hook({"tool_use_id": "t1", "tool_input": {"command": "bad"}})[1]) == "deny"
    connection.execute("ROLLBACK")
    database.close()
    os.kill(pid, signal.SIGCONT)
    assert recorded(patient, "t") == {"t1": [TRACED]}
    calls = patient.snell("ledger", "list", "--json")
    assert calls.count("s/t1") == 1


def test_one_that_is_slow_to_answer_but_works_is_waited_for(machine: Machine) -> None:
    """A hook takes longer than a hung daemon is waited for; no event is decided without the daemon."""
    command = "sleep 2.5; echo slow >&2; exit 2"
    machine.write("snell.toml", f'[[hooks]]\nevent="PreToolUse"\nmatcher="Slow"\ncommand="{command}"\n')
    assert machine.reason({"tool_name": "Slow", "tool_input": {}}) == "slow"


def verdict(out: str) -> str:
    return json.loads(out)["hookSpecificOutput"].get("permissionDecision", "") if out else ""


def recorded(machine: Machine, prefix: str) -> dict[str, list[str]]:
    """By call, what is known of each of its decisions."""
    found: dict[str, list[str]] = {}
    for row in rows(machine):
        if row.tool_use_id.startswith(prefix):
            trace = journal(machine, lambda read, id_=row.id: read.find(id_)).get("problems", [])
            found.setdefault(row.tool_use_id, []).append("; ".join(trace) or TRACED)
    return found


def sessions(machine: Machine) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows(machine):
        found[row.session_id] = found.get(row.session_id, 0) + 1
    return found


def rows(machine: Machine) -> list[Any]:
    return journal(machine, lambda read: read.recent(limit=1000))


def journal(machine: Machine, read: Callable[[StoreJournal], Any]) -> Any:
    database = SqliteDatabase(machine.home / "state/snell.db")
    try:
        return read(StoreJournal(database))
    finally:
        database.close()
