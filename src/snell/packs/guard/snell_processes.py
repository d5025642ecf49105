"""Is this number one of a process of Snell?"""

from __future__ import annotations

import os

from snell.packs.guard.file_lookups import mark_unrepeatable
from snell.packs.guard.snell_paths import SnellPaths
from snell.system.process_table import process_at


def is_snell_process(number: int, snell_paths: SnellPaths) -> bool:
    """The daemon, one of its children, or a `snell-hook`; a number below zero is that of their group."""
    mark_unrepeatable()
    daemons = _daemons(snell_paths)
    if number < 0:
        return -number in {os.getpgrp(), *map(_group, daemons)}
    if number == os.getpid() or number in daemons:
        return True
    process = process_at(number)
    # Only of daemons: where Snell runs inside an agent, the agent's own programs are children of this process, too.
    return process is not None and (process.parent in daemons or _name(number) == "snell-hook")


def _daemons(snell_paths: SnellPaths) -> set[int]:
    """Who holds the daemon's lock has written its number there; it is not us where the event is decided without it."""
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
    """The lock stays when the daemon has gone, and another process may have got its number since."""
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
