"""
The processes of this machine as they were last seen, with what tells which run they came from.

It remembers what it read, so that looking again costs little more than reading what is new.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .process_table import Ghost, Process, process_at, processes, signs_of

if TYPE_CHECKING:
    from .process_tree import Tree

MARK_VARIABLE = "SNELL_RUN"
MARK = MARK_VARIABLE.encode("ascii")


class Entry:
    """One process. `process` is as it was last read; the signs stay those of its first sight."""

    __slots__ = ("process", "signs", "tree")

    def __init__(self, process: Process) -> None:
        self.process = process
        self.tree: Tree | None = None
        self.signs = frozenset() if process.of_kernel else signs_of(process.pid, MARK)

    def refresh(self) -> None:
        now = process_at(self.process.pid)
        if now is not None and now.born == self.process.born:
            self.saw(now)
        else:
            self.process = _dead(self.process)

    def saw(self, process: Process) -> None:
        self.process = process
        if self.signs is None and process.alive:
            self.signs = signs_of(process.pid, MARK)


class ProcessSnapshot:
    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}

    def look(self, *, at_all: bool) -> Iterator[Entry | Ghost]:
        """
        Yield each new process the moment it is read, also those that had gone by then.

        Unless it looks `at_all`, numbers that were seen before are passed over, which is quicker than most forks,
        and does not notice a death or a number that was used again.
        """
        seen: set[int] = set()
        for found in processes(skip=() if at_all else self.entries):
            seen.add(found.pid)
            known = self.entries.get(found.pid)
            if isinstance(found, Ghost):
                if known is None:
                    yield found
            elif known is not None and known.process.born == found.born:
                known.saw(found)
            else:
                entry = self.entries[found.pid] = Entry(found)
                yield entry
        if at_all:
            self._forget_all_but(seen)

    def living(self, pid: int) -> Entry | None:
        """The entry of this pid, if it still stands for the process that has the pid now."""
        entry = self.entries.get(pid)
        now = process_at(pid) if entry else None
        return entry if entry and now and now.born == entry.process.born else None

    def _forget_all_but(self, seen: set[int]) -> None:
        for pid in self.entries.keys() - seen:
            entry = self.entries.pop(pid)
            entry.process = _dead(entry.process)


def _dead(process: Process) -> Process:
    return Process(process.pid, process.parent, process.group, process.session, process.born, alive=False)
