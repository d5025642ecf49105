"""
A snapshot of the processes of this machine, with the tags that tell which run each came from.

It remembers what it read, so a further update costs little more than reading what is new.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .process_table import Process, Vanished, process_at, processes, tags_of

if TYPE_CHECKING:
    from .process_tree import Tree

MARK_VARIABLE = "SNELL_RUN"
MARK = MARK_VARIABLE.encode("ascii")


class Entry:
    """One process. `process` is as it was last read; the tags are those of the first reading."""

    __slots__ = ("process", "tags", "tree")

    def __init__(self, process: Process) -> None:
        self.process = process
        self.tree: Tree | None = None
        self.tags = frozenset() if process.of_kernel else tags_of(process.pid, MARK)

    def refresh(self) -> None:
        now = process_at(self.process.pid)
        if now is not None and now.started == self.process.started:
            self.update(now)
        else:
            self.process = _dead(self.process)

    def update(self, process: Process) -> None:
        self.process = process
        if self.tags is None and process.alive:
            self.tags = tags_of(process.pid, MARK)


class ProcessSnapshot:
    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}

    def update(self, *, everything: bool) -> Iterator[Entry | Vanished]:
        """
        Yield each new process as soon as it is read, also those that had ended by then.

        Unless `everything` is set, known pids are skipped. That is quicker than most forks, and does not notice a death
        or a reused pid.
        """
        seen: set[int] = set()
        for found in processes(skip=() if everything else self.entries):
            seen.add(found.pid)
            known = self.entries.get(found.pid)
            if isinstance(found, Vanished):
                if known is None:
                    yield found
            elif known is not None and known.process.started == found.started:
                known.update(found)
            else:
                entry = self.entries[found.pid] = Entry(found)
                yield entry
        if everything:
            self._drop_all_but(seen)

    def living(self, pid: int) -> Entry | None:
        """Return the entry of this pid, if it still describes the process that has the pid now."""
        entry = self.entries.get(pid)
        now = process_at(pid) if entry else None
        return entry if entry and now and now.started == entry.process.started else None

    def _drop_all_but(self, seen: set[int]) -> None:
        for pid in self.entries.keys() - seen:
            entry = self.entries.pop(pid)
            entry.process = _dead(entry.process)


def _dead(process: Process) -> Process:
    return Process(process.pid, process.parent, process.group, process.session, process.started, alive=False)
