"""Recognise the process ids of Snell."""

import os

from snell.packs.guard.file_lookups import mark_unrepeatable
from snell.packs.guard.snell_paths import SnellPaths
from snell.system.process_table import process_at


def is_snell_process(number: int, snell_paths: SnellPaths) -> bool:
    """Tell whether this is the daemon, a child of it, or a `snell-hook`; a negative number is a process group."""
    mark_unrepeatable()
    daemons = _daemons(snell_paths)
    if number < 0:
        return -number in {os.getpgrp(), *map(_group, daemons)}
    if number == os.getpid() or number in daemons:
        return True
    process = process_at(number)
    # Only children of daemons: embedded in an agent, the agent's own programs are children of this process, too.
    return process is not None and (process.parent in daemons or _name(number) == "snell-hook")


def _daemons(snell_paths: SnellPaths) -> set[int]:
    """Return the process ids in the daemons' lock files; this process may be another one."""
    found = set[int]()
    for folder in snell_paths.folders:
        for run in (f"{folder}/run", f"{os.path.dirname(folder)}/run"):
            try:
                with open(f"{run}/daemon.lock", encoding="ascii") as lock:
                    found.add(int(lock.read(32)))
            except (OSError, ValueError):
                continue
    return {number for number in found if number > 1 and _is_daemon(number)}


def _is_daemon(number: int) -> bool:
    """Tell whether the process is a daemon; the lock file stays, and its id may be reused."""
    try:
        with open(f"/proc/{number}/cmdline", "rb") as file:
            return b"snell" in file.read(4_096)
    except OSError:
        return not os.path.isdir("/proc/self")


def _group(number: int) -> int:
    process = process_at(number)
    return process.group if process else number


def _name(number: int) -> str:
    try:
        with open(f"/proc/{number}/comm", encoding="utf-8", errors="replace") as file:
            return file.read(64).strip()
    except OSError:
        return ""
