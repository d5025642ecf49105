"""Programs of hooks that run when the daemon is killed are ended by the next one, and nothing else is."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from snell.system.process_table import process_at
from tests.process.machine import Machine
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.real_start,
    pytest.mark.skipif(sys.platform != "linux", reason="programs are recorded with their start times"),
]
pytest_plugins = ("tests.process.machine_fixtures",)

COMMAND = """[[hooks]]
event = "PreToolUse"
matcher = "{matcher}"
timeout = 600
command = "{command}"
"""
SLEEPS = """
import os, time
from pathlib import Path
from snell import judges

@judges("PreToolUse", matcher="Worker", timeout=600)
def sleeps(call):
    Path("{pids}", str(os.getpid())).touch()
    time.sleep(600)
"""


@pytest.mark.parametrize("tool", ["Slow", "Worker"])
def test_they_are_ended_with_all_that_they_started(machine: Machine, tmp_path: Path, tool: str) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    sleeper = f"echo > {pids}/$$; exec sleep 600"
    started = f"setsid sh -c '{sleeper}' < /dev/null > /dev/null 2>&1 & {sleeper}"
    machine.write("snell.toml", 'packs = ["pack"]\n' + COMMAND.format(matcher="Slow", command=started))
    machine.write("pack/sleeps.py", SLEEPS.format(pids=pids))
    with ThreadPoolExecutor(1) as agents:
        # Its `snell-hook` waits for the next daemon, which runs the hook again.
        agents.submit(machine.hook, {"tool_name": tool, "tool_input": {}})
        wait_until(lambda: len(os.listdir(pids)) == (2 if tool == "Slow" else 1))
        first = [int(name) for name in os.listdir(pids)]
        os.kill(machine.pid, 9)
        wait_until(lambda: not any(is_alive(pid) for pid in first))
        wait_until(lambda: len(os.listdir(pids)) > len(first))
        wait_until(lambda: machine.end_hooks() or not machine.daemons())


def test_what_a_hook_left_in_the_background_goes_on(machine: Machine, tmp_path: Path) -> None:
    left = f"setsid sh -c 'echo $$ > {tmp_path}/left; exec sleep 600' < /dev/null > /dev/null 2>&1 &"
    machine.write("snell.toml", COMMAND.format(matcher="Bash", command=left))
    machine.hook()
    wait_until(lambda: (tmp_path / "left").exists() and (tmp_path / "left").read_text("utf-8"))
    pid = int((tmp_path / "left").read_text("utf-8"))
    os.kill(machine.pid, 9)
    wait_until(lambda: not machine.daemons())
    (machine.config / "snell.toml").write_text("", encoding="utf-8")
    next_daemon(machine)
    assert is_alive(pid)


def test_another_process_with_the_pid_of_a_hook_is_left_alone(machine: Machine) -> None:
    folder = machine.home / "run/hooks"
    folder.mkdir(parents=True)
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        found = process_at(other.pid)
        assert found
        (folder / f"{os.getpid()}.1.{other.pid}.{found.started - 100}.{'a' * 32}").touch()
        next_daemon(machine)
        assert other.poll() is None
        other.kill()


def next_daemon(machine: Machine) -> None:
    """Let a daemon start, and look after what the last one left."""
    folder = machine.home / "run/hooks"
    machine.hook()
    wait_until(lambda: not [name for name in os.listdir(folder) if not name.startswith(f"{machine.pid}.")])


def is_alive(pid: int) -> bool:
    process = process_at(pid)
    return process is not None and process.alive
