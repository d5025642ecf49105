"""
List processes, and send signals to exactly the intended one.

A pid alone is not an identity, because pids are reused; a pid together with its start time is. On Linux `/proc` is
read. Elsewhere (macOS) `ps` is used: start times are then known to the second, and sessions, environments and open
pipes are not, so processes are found by ancestry and group alone.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Container, Iterator

import msgspec

from .files import names_in
from .lazy_regex import lazy_regex

FROM_PROC = sys.platform == "linux"
_PF_KTHREAD = 0x00200000
_PS_LINE = lazy_regex(rb"\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*?)\s*")


class Process(msgspec.Struct, frozen=True):
    pid: int
    parent: int
    group: int
    session: int
    started: int  # clock ticks since boot on Linux, else a number that only identifies
    alive: bool  # False for a zombie
    of_kernel: bool = False


class Vanished(msgspec.Struct, frozen=True):
    """A process that was listed and had ended before it could be read."""

    pid: int


def processes(skip: Container[int] = ()) -> Iterator[Process | Vanished]:
    """Yield every process except those whose pid is in `skip`, each read as late as possible."""
    if not FROM_PROC:
        yield from (process for process in processes_from_ps() if process.pid not in skip)
        return
    for name in names_in("/proc"):
        if name.isdecimal() and int(name) not in skip:
            yield process_at(int(name)) or Vanished(int(name))


def process_at(pid: int) -> Process | None:
    """Return one process; None when there is none with that pid."""
    if not FROM_PROC:
        return next(iter(processes_from_ps("-p", str(pid))), None)
    stat = _read(f"/proc/{pid}/stat")
    if not stat:
        return None
    # The name is in parentheses and may contain anything, even parentheses and newlines.
    words = stat[stat.rindex(b")") + 2 :].split()
    # A zombie with more than one thread has lost its first thread and continues in the others.
    alive = words[0] not in b"ZXx" or int(words[17]) > 1
    of_kernel = bool(int(words[6]) & _PF_KTHREAD)
    return Process(pid, int(words[1]), int(words[2]), int(words[3]), int(words[19]), alive, of_kernel)


def send(process: Process, number: "signal.Signals") -> bool:
    """Signal exactly this process; False when it has ended or may not be signalled."""
    try:
        descriptor = os.pidfd_open(process.pid) if sys.platform == "linux" else None
    except OSError as error:
        if isinstance(error, ProcessLookupError):
            return False
        descriptor = None  # no descriptors left, or a kernel before 5.3
    try:
        # INVARIANT: identity is checked after the descriptor is open; from then on a reused pid cannot mislead.
        now = process_at(process.pid)
        if now is None or now.started != process.started:
            return False
        if descriptor is None:
            os.kill(process.pid, number)
        else:
            signal.pidfd_send_signal(descriptor, number)
        return True
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        if descriptor is not None:
            os.close(descriptor)


def send_group(group: int, number: "signal.Signals") -> None:
    """
    Signal a process group; the kernel reaches all of it at once, even while it forks.

    A process that is about to end has group -1 or 0. Those are not groups: 0 would be our own.
    """
    if group <= 1:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def tags_of(pid: int, variable: bytes) -> frozenset[str] | None:
    """
    Return the words of `variable` in the process's initial environment, and the pipes (`pipe:[inode]`) that are its
    standard input, output and error. None for a process without environment: in the middle of an exec it has none.
    """
    environment = _read(f"/proc/{pid}/environ")
    lines = environment.split(b"\0") if environment and variable in environment else []
    words = [word for line in lines if line.startswith(variable + b"=") for word in line[len(variable) + 1 :].split()]
    found = {word.decode("ascii", "replace") for word in words} | set(_standard_pipes(pid))
    return None if environment == b"" and not found else frozenset(found)


def ticks_now() -> int:
    """Return the current time in the unit of `Process.started`."""
    if sys.platform != "linux":
        return int(time.time())
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def processes_from_ps(*chosen: str) -> list[Process]:
    """Read processes with `ps`, which every Unix has: all, or the `chosen`; none if it cannot be run."""
    try:
        listing = subprocess.run(
            ["ps", *(chosen or ["-A"]), "-o", "pid=,ppid=,pgid=,stat=,lstart="],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"PATH": "/bin:/usr/bin", "LC_ALL": "C"}, timeout=1, check=False,
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return []
    return [_from_ps_line(line) for line in map(_PS_LINE.fullmatch, listing.splitlines()) if line]


def _from_ps_line(line: re.Match[bytes]) -> Process:
    pid, parent, group = (int(line[index]) for index in (1, 2, 3))
    try:
        started = int(time.mktime(time.strptime(line[5].decode("ascii"), "%a %b %d %H:%M:%S %Y")))
    except ValueError:
        started = 0
    return Process(pid, parent, group, 0, started, alive=not line[4].startswith(b"Z"))


def _standard_pipes(pid: int) -> Iterator[str]:
    for number in (0, 1, 2):
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/{pid}/fd/{number}")
            if target.startswith("pipe:"):
                yield target


def _read(path: str) -> bytes | None:
    """Read the complete file without Python's file objects, which cost three times as much here."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = chunk = os.read(descriptor, 65_536)
        while len(chunk) >= 4_096 and (chunk := os.read(descriptor, 65_536)):
            data += chunk
        return data
    except OSError:
        return None
    finally:
        os.close(descriptor)
