"""
Read a process and its ancestors: names, arguments, terminals and environments.

Linux shows all of it in `/proc`. Elsewhere `ps` shows names and terminals, but neither sessions nor environments. What
cannot be read is empty, and a caller has to take that for unknown.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping

from msgspec import Struct

MOST_ANCESTORS = 64
FROM_PROC = sys.platform == "linux"
_PSEUDO = range(136, 144)  # the major numbers of pseudo-terminals


class Link(Struct, frozen=True):
    """One process of the chain."""

    pid: int
    parent: int
    name: str  # as the kernel has it; a process can change its own
    session: int = 0  # 0 where it is not known
    terminal: str = ""  # its controlling terminal
    is_pseudo: bool = True  # that terminal is a pseudo-terminal, which a program drives
    user: int = -1
    program: str = ""  # the path of its executable; empty if it may not be read
    words: tuple[str, ...] = ()  # its arguments, with the program
    env: Mapping[str, str] = {}  # as it was started; empty if it may not be read


def chain_of(pid: int) -> list[Link]:
    """Return the process and its ancestors, up to the first process of this system or container."""
    read = _read_proc if FROM_PROC else _read_ps
    found: list[Link] = []
    while pid > 0 and len(found) < MOST_ANCESTORS and (link := read(pid)):
        found.append(link)
        pid = link.parent
    return found


def _read_proc(pid: int) -> Link | None:
    stat = _bytes(pid, "stat")
    if not stat:
        return None
    name, _, rest = stat.partition(b"(")[2].rpartition(b")")
    fields = rest.split()
    number = int(fields[4])
    words = [word.decode("utf-8", "replace") for word in _bytes(pid, "cmdline").split(b"\0")[:-1]]
    env = (line.decode("utf-8", "replace").partition("=") for line in _bytes(pid, "environ").split(b"\0"))
    return Link(
        pid=pid,
        parent=int(fields[1]),
        name=name.decode("utf-8", "replace"),
        session=int(fields[3]),
        terminal=str(number) if number else "",
        is_pseudo=(number >> 8 & 0xFFF) in _PSEUDO,
        user=_owner(pid),
        program=_program(pid),
        words=tuple(words),
        env={variable: value for variable, equals, value in env if equals},
    )


def _bytes(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _owner(pid: int) -> int:
    try:
        lines = _bytes(pid, "status").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(b"Uid:"))
    except StopIteration:
        return -1


def _program(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")
    except OSError:
        return ""


def _read_ps(pid: int) -> Link | None:
    """Read one process with `ps`, as macOS and the BSDs have it."""
    command = ["ps", "-ww", "-p", str(pid), "-o", "ppid=,uid=,tty=,comm="]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return link_from_ps(pid, done.stdout.decode("utf-8", "replace"))


def link_from_ps(pid: int, line: str) -> Link | None:
    """Return the process that a line of `ps` shows: its parent, user, terminal and program."""
    fields = line.split(None, 3)
    if len(fields) < 4 or not fields[0].isdecimal() or not fields[1].isdecimal():
        return None
    program = fields[3].strip()
    terminal = "" if fields[2].strip("?-") == "" else fields[2]
    return Link(
        pid=pid,
        parent=int(fields[0]),
        name=os.path.basename(program).lstrip("-"),
        terminal=terminal,
        is_pseudo=terminal != "console",
        user=int(fields[1]),
        program=program if program.startswith("/") else "",
        words=(program,),
    )


def names_of(link: Link) -> Iterator[str]:
    """Yield the names by which a process may be known: of the kernel, its program and its first argument."""
    for each in (link.name, os.path.basename(link.program), os.path.basename(link.words[0]) if link.words else ""):
        if name := each.lstrip("-").partition("(")[0].partition(":")[0].strip():
            yield name
