"""A daemon that is there and says nothing is ended; one that works is not."""

import json
import os
import signal
import subprocess
import sys

from snell.daemon.client import end_if_hung
from tests.process.machine import CALL, Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)


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


def test_a_decision_that_was_told_so_ends_the_daemon_first(machine: Machine) -> None:
    machine.hook()
    pid = machine.pid
    os.kill(pid, signal.SIGSTOP)
    done = subprocess.run(
        [sys.executable, "-m", "snell", "hook", "--end-silent-daemon", "--client", "claude-code"],
        input=json.dumps({**CALL, "cwd": str(machine.project), "tool_input": {"command": "bad"}}).encode(),
        env=machine.env(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert b"not that" in done.stdout
    assert pid not in machine.daemons()
