"""The audit chain of processes that were killed: nothing of it looks as if it had been changed."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.counts import Figure, times
from tests.fork_server import run_snell
from tests.process.machine import Machine
from tests.seeds import draw_seed
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

ROOT = Path(__file__).resolve().parent.parent.parent
AT_ONCE = 4


@times("kills", 12, 200, 3600)
def test_processes_that_are_killed_while_they_chain_break_nothing(machine: Machine, kills: int, figure: Figure) -> None:
    seed = draw_seed()
    chosen = random.Random(seed)
    children = [child(machine) for _ in range(AT_ONCE)]
    for _ in range(kills):
        more = lines(machine) + chosen.randrange(1, 20)
        wait_until(lambda more=more: lines(machine) >= more, 60)
        killed = children.pop(chosen.randrange(AT_ONCE))
        killed.kill()
        killed.wait()
        assert verify(machine)["broken"] == []
        children.append(child(machine))
    for each in children:
        each.kill()
        each.wait()
    found = verify(machine)
    figure(test="audit", fault="kill -9 of 4 processes that chain", kills=kills, links=found["links"], seed=seed)
    assert found["broken"] == []


def decide(machine: Machine) -> None:
    """One event through a daemon that chains it when it ends; before its first command it could not be told to."""
    machine.hook()
    machine.status()
    machine.stop()


def child(machine: Machine) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "tests.faults.audit_children"], cwd=ROOT, env=machine.env())


def lines(machine: Machine) -> int:
    path = machine.home / "state/audit.anchor"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def verify(machine: Machine) -> dict:
    code, out, _ = run_snell("audit", "verify", "--json", env=machine.env(), cwd=machine.project)
    found = json.loads(out)
    broken = [*found["integrity"], *found["completeness"]]
    assert code == (1 if broken else 0)
    return {**found, "broken": broken}


@pytest.mark.parametrize("half", ["cut", "added"])
def test_half_a_last_line_is_an_interrupted_write_and_the_next_note_stands_on_its_own(
    machine: Machine, half: str
) -> None:
    decide(machine)
    path = machine.home / "state/audit.anchor"
    whole = path.read_bytes()
    path.write_bytes(whole + b"17 0a1b" if half == "added" else whole[:-30])
    found = verify(machine)
    assert (found["broken"], "is incomplete" in found["interrupted"][0]) == ([], True)
    decide(machine)
    found = verify(machine)
    assert (found["broken"], found["interrupted"]) == ([], [])
    assert path.read_bytes().endswith(b"\n")
    assert {len(line.split()) for line in path.read_bytes().splitlines()} == {4}


def test_links_that_a_killed_process_did_not_note_are_no_alarm(machine: Machine) -> None:
    decide(machine)
    before = (machine.home / "state/audit.anchor").read_bytes()
    words = [sys.executable, "-m", "tests.faults.audit_children", "before note"]
    subprocess.run(words, cwd=ROOT, env=machine.env(), check=False)
    assert (machine.home / "state/audit.anchor").read_bytes() == before
    found = verify(machine)
    assert (found["broken"], len(found["interrupted"])) == ([], 1)
    (machine.home / "state/audit.extending").unlink()
    path = machine.home / "state/audit.anchor"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert verify(machine)["broken"], "notes that were cut are still missed"
