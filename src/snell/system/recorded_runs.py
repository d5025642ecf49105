"""
Record which programs of hooks are running, so that the next daemon can end those of one that was killed.

Each has an empty file, whose name says who started it, which process it is, and the tag in its environment. A pid alone
is not an identity, so both come with their start times. Linux only: elsewhere start times are slow to find out.
"""

import contextlib
import os
from pathlib import Path

from .files import names_in
from .orphan_processes import Span
from .paths import PlaceError, make_private
from .process_killer import kill_tree
from .process_table import FROM_PROC, process_at
from .process_tree import Tree

FOLDER = "hooks"
_NO_PROCESS = -2  # for a tree that has lost its main process, and is found by its tag


class RecordedRuns:
    """The programs that this process runs; nothing is recorded without a folder."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._names: dict[int, str] = {}
        self._owner = ""

    def record_in(self, run: Path) -> None:
        """Record them below the run folder from now on."""
        folder, us = run / FOLDER, process_at(os.getpid()) if FROM_PROC else None
        with contextlib.suppress(OSError, PlaceError):
            make_private(run)
            make_private(folder)
            self._folder = folder if us else None
            self._owner = f"{us.pid}.{us.started}" if us else ""

    def add(self, pid: int, tag: str) -> None:
        process = process_at(pid) if self._folder else None
        if process and self._folder:
            name = f"{self._owner}.{pid}.{process.started}.{tag}"
            with contextlib.suppress(OSError):  # a full disk: then it can be ended only by this process
                os.close(os.open(self._folder / name, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
                self._names[pid] = name

    def remove(self, pid: int) -> None:
        name = self._names.pop(pid, None)
        if name and self._folder:
            with contextlib.suppress(OSError):
                os.unlink(self._folder / name)

    def end_those_left(self) -> int:
        """End the programs whose process was killed, each with all that it started; return how many there were."""
        ended = 0
        for name in names_in(str(self._folder)) if self._folder else ():
            words = name.split(".")
            if len(words) != 5 or not all(word.isdecimal() for word in words[:4]):
                continue
            owner, owner_started, pid, started = map(int, words[:4])
            if not _is_alive(owner, owner_started):
                main = pid if _is_alive(pid, started) else _NO_PROCESS
                kill_tree(Tree(main, frozenset({words[4]}), Span(0, main, 0)))
                os.unlink(f"{self._folder}/{name}")
                ended += 1
        return ended


def _is_alive(pid: int, started: int) -> bool:
    process = process_at(pid)
    return process is not None and process.alive and process.started == started


# One per operating system process, like the programs that it runs.
RUNS = RecordedRuns()
