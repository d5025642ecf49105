"""A daemon that has nothing to do does nothing."""

import sys
from pathlib import Path

import pytest

from tests.process.machine import Machine
from tests.waiting import first_true, wait_until

pytestmark = [
    pytest.mark.real_start,
    pytest.mark.skipif(sys.platform != "linux", reason="what a daemon does is read in /proc"),
]
pytest_plugins = ("tests.process.machine_fixtures",)

WINDOW = 4.0  # seconds in which it should not run
MOST_WAKE_UPS = 2  # in a window; one look may fall into it
MOST_CPU = 0.004  # seconds in a window, for that one look on a busy machine


def test_an_idle_daemon_sleeps(machine: Machine) -> None:
    """It is measured by what the kernel counts for this process alone, so that others may be busy."""
    machine.write("snell.toml", "")
    for number in range(5):
        machine.hook({"session_id": f"s{number}", "hook_event_name": "SessionStart", "source": "startup"})
        machine.hook({"session_id": f"s{number}"})
    pid = machine.pid
    wait_until(lambda: is_asleep(pid), 60)


def test_an_orphan_of_a_hook_that_dies_later_is_waited_for(machine: Machine, tmp_path: Path) -> None:
    """The daemon is its parent by then, and looks when a child has ended."""
    written = tmp_path / "pid"
    orphan = f"(setsid sh -c 'echo $$ > {written}; sleep 1' </dev/null >/dev/null 2>&1 &)"
    machine.write("snell.toml", f'[[hooks]]\nevent = "PreToolUse"\ncommand = """{orphan}"""\n')
    machine.hook()
    pid = wait_until(lambda: written.exists() and written.read_text(encoding="utf-8").strip())
    assert f"PPid:\t{machine.pid}\n" in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), 30)


def is_asleep(pid: int) -> bool:
    """Whether the process hardly ran in a window that begins now."""
    cpu, wake_ups = spent(pid)

    def has_run() -> bool:
        now = spent(pid)
        return now[0] - cpu > MOST_CPU or now[1] - wake_ups > MOST_WAKE_UPS

    return not first_true(has_run, WINDOW)


def spent(pid: int) -> tuple[float, int]:
    """Seconds of processor time and wake-ups of all threads of a process."""
    cpu, wake_ups = 0, 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        cpu += int((task / "schedstat").read_text(encoding="utf-8").split()[0])
        lines = (task / "status").read_text(encoding="utf-8").splitlines()
        wake_ups += next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return cpu / 1e9, wake_ups
