"""
Find the processes that a test run leaves behind (Linux only).

This process becomes the parent of every descendant whose own parent ends (a subreaper), so a daemon that detached
itself is still found.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from scripts.environment import say

PR_SET_CHILD_SUBREAPER = 36
SECONDS_TO_END = 3.0  # a daemon that is stopping may still be writing its last rows


def adopt_orphans() -> None:
    """Make orphaned descendants children of this process, where the system can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run_and_reap(command: Sequence[str | Path], cwd: Path, env: Mapping[str, str]) -> int:
    """Run a command and collect orphans that end meanwhile, as init would; return the exit code."""
    if sys.platform != "linux":
        return subprocess.run(command, cwd=cwd, env=env).returncode
    started, interrupts = subprocess.Popen(command, cwd=cwd, env=env), list[int]()
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))  # the command gets it, too
    try:
        while started.returncode is None:
            pid, status = os.wait()
            if pid == started.pid:
                started.returncode = os.waitstatus_to_exitcode(status)
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts and started.returncode:
        raise KeyboardInterrupt
    return started.returncode


def end_leftovers() -> int:
    """Print and kill processes that still run; return 1 if there were any, else 0."""
    if sys.platform != "linux":
        return 0
    deadline = time.monotonic() + SECONDS_TO_END
    while (left := descendants(os.getpid())) and time.monotonic() < deadline:
        time.sleep(0.1)
    if not left:
        return 0
    say(f"{len(left)} processes outlived the tests that started them:")
    for pid in left:
        say(f"  {pid}: {describe(pid)}")
        with suppress(ProcessLookupError):  # it ended by itself meanwhile
            os.kill(pid, signal.SIGKILL)
    while reap_one():
        pass
    return 1


def reap_one() -> bool:
    """Wait for one killed process; return False when there is none left."""
    try:
        os.wait()
    except ChildProcessError:
        return False
    return True


def descendants(pid: int) -> list[int]:
    """Return the ids of the running processes below this one, parents first."""
    parents = {each: parent_of(each) for each in map(int, filter(str.isdecimal, os.listdir("/proc")))}
    found: list[int] = []
    generation = [pid]
    while generation:
        generation = [each for each, parent in parents.items() if parent in generation]
        found += generation
    return found


def parent_of(pid: int) -> int:
    """Return the parent's id; 0 for a process that has ended."""
    try:
        state, parent = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:2]
        )
    except OSError:
        return 0
    return 0 if state in "ZX" else int(parent)


def describe(pid: int) -> str:
    """Return the command line, and the home folder that tells which test started the process."""
    command = read_process_file(pid, "cmdline").replace("\0", " ")
    variables = read_process_file(pid, "environ").split("\0")
    places = [each for each in variables if each.startswith(("SNELL_HOME=", "HOME="))]
    return f"{command[:200]} ({', '.join(places)})"


def read_process_file(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
