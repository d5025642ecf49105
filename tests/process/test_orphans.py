"""Orphans that a process of ours adopts: found, left alone or waited for, as the run they came from went."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.process.sandbox import Sandbox
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="survivors are looked for in /proc")

# Adoption cannot be taken back, so it happens in a process of its own.
ADOPTER = """
import json, os, sys, time
from snell.system.orphan_processes import CHILDREN
from snell.system.process_table import Process, processes
from snell.system.run_program import adopt_orphans, run

def children():
    return [each.alive for each in processes() if isinstance(each, Process) and each.parent == os.getpid()]

assert adopt_orphans()
finished = run(["/bin/sh", "-c", sys.argv[1]], stdin=b"", cwd=os.getcwd(), env=os.environ, timeout=0.5)
until = time.monotonic() + (5 if sys.argv[2] == "wait for the dead" else 0)
reaped = 0
while children() and time.monotonic() < until:
    reaped += CHILDREN.reap_all()
    time.sleep(0.02)
print(json.dumps({"exit_code": finished.exit_code, "children": children(), "reaped": reaped > 0}))
"""


def adopt_and_run(sandbox: Sandbox, command: str, then: str = "") -> dict[str, Any]:
    adopter = subprocess.run(
        [sys.executable, "-c", ADOPTER, command, then],
        cwd=sandbox.folder, env=sandbox.env, stdout=subprocess.PIPE, timeout=30, check=True,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(adopter.stdout)
    return answer


def test_an_orphan_that_hid_everything_ends_with_its_run(sandbox: Sandbox) -> None:
    hidden = """(env -i setsid sh -c './sleeper "$0" &' "$PIDS" </dev/null >/dev/null 2>&1 &); sleep 60"""
    assert adopt_and_run(sandbox, hidden) == {"exit_code": None, "children": [], "reaped": False}
    assert len(list(sandbox.pids.iterdir())) == 1
    assert wait_until(lambda: not sandbox.survivors())


def test_an_orphan_of_a_successful_run_is_left_alone(sandbox: Sandbox) -> None:
    daemon = """(setsid ./sleeper "$PIDS" </dev/null >/dev/null 2>&1 &)"""
    assert adopt_and_run(sandbox, daemon) == {"exit_code": 0, "children": [True], "reaped": False}
    sandbox.end_survivors()
    assert wait_until(lambda: not sandbox.survivors())


@pytest.mark.parametrize("daemon", ["setsid sleep 0.1", "setsid sh -c 'sleep 0.1 &'"])
def test_a_dead_orphan_is_waited_for(sandbox: Sandbox, daemon: str) -> None:
    command = f"({daemon} </dev/null >/dev/null 2>&1 &)"
    assert adopt_and_run(sandbox, command, "wait for the dead") == {"exit_code": 0, "children": [], "reaped": True}
