"""
Every process that one run started, even those that left its session.

A process belongs to the run when one of these holds:

- its parent belongs, or it is in a group or session that a member made or was in;
- the run's tag is in its environment;
- its standard input, output or error is one of the run's pipes;
- it is an orphan that we adopted and that started while this run alone was in progress.

Out of reach are a process of another user and, if orphans are not adopted, one that left its session, cleared its
environment, closed its pipes and lost its parent before it was looked for.
"""

import os
import threading
from collections.abc import Iterable, Iterator
from signal import Signals

from .orphan_processes import CHILDREN, Span
from .process_table import Process, Vanished, process_at, processes, send, send_group, tags_of, ticks_now

MARK_VARIABLE = "SNELL_RUN"
MARK = MARK_VARIABLE.encode("ascii")


class Tree:
    """The processes of one run. INVARIANT: its main process is not waited for before the tree has ended."""

    def __init__(self, main: int, tags: frozenset[str], span: Span) -> None:
        self.main = main
        self.tags = tags
        self.span = span
        self.members: list[Entry] = []
        self.ended = threading.Event()

    def is_over(self) -> bool:
        """Whether every member, as last read, has ended."""
        return not any(entry.process.alive for entry in self.members)

    def refresh(self) -> None:
        for entry in self.members:
            if entry.process.alive:
                entry.refresh()

    def send(self, number: Signals) -> None:
        """Signal all members: complete groups first, which the kernel reaches at once, even while they fork."""
        send_group(self.main, number)
        reached = {self.main}
        for entry in self.members:
            if entry.process.alive and entry.process.group not in reached:
                reached.add(entry.process.group)
                send_with_group(entry, number)

    def send_each(self, number: Signals) -> None:
        """Signal all members one by one, for those that changed their group in the meantime."""
        for entry in self.members:
            if entry.process.alive:
                send(entry.process, number)

    def reap(self) -> None:
        for entry in self.members:
            if entry.process.pid != self.main:
                CHILDREN.reap(entry.process)


def send_with_group(entry: "Entry", number: Signals) -> None:
    """Signal a member and its group: a group is in one session, and that contains processes of this run only."""
    if not send(entry.process, number):
        return
    now = process_at(entry.process.pid)
    if now and now.started == entry.process.started and now.group not in (0, 1, os.getpgrp()):
        send_group(now.group, number)


class Ownership:
    """Attributes processes to one of several trees."""

    def __init__(self, snapshot: "ProcessSnapshot") -> None:
        self._snapshot = snapshot
        self._own_session = os.getsid(0)
        self._trees: list[Tree] = []
        self._by_tag: dict[str, Tree] = {}
        self._by_group: dict[int, Tree] = {}
        self._by_session: dict[int, tuple[Tree, int]] = {}  # and when it was first seen in use

    def add(self, tree: Tree) -> None:
        self._trees.append(tree)
        self._by_tag |= dict.fromkeys(tree.tags, tree)
        self._by_group[tree.main] = tree
        self._by_session[tree.main] = (tree, ticks_now())

    def remove(self, tree: Tree) -> None:
        self._trees.remove(tree)
        self._by_tag = {tag: owner for tag, owner in self._by_tag.items() if owner is not tree}
        self._by_group = {group: owner for group, owner in self._by_group.items() if owner is not tree}
        self._by_session = {session: owner for session, owner in self._by_session.items() if owner[0] is not tree}

    def assign(self, entries: "Iterable[Entry]") -> "list[Entry]":
        """Assign each entry to the tree it belongs to; returns those for which there is one."""
        waiting = [entry for entry in entries if entry.tree is None and entry.process.session != self._own_session]
        assigned: list[Entry] = []
        found = True
        while found:  # an entry just assigned may be the parent of one that was not
            found = False
            for entry in waiting:
                if entry.tree is None and (tree := self._owner(entry)):
                    entry.tree = tree
                    tree.members.append(entry)
                    if entry.process.session:
                        self._by_session.setdefault(entry.process.session, (tree, ticks_now()))
                    assigned.append(entry)
                    found = True
        return assigned

    def _owner(self, entry: "Entry") -> Tree | None:
        process = entry.process
        return (
            self._by_group.get(process.pid)
            or self._by_group.get(process.group)
            or self._by_session_id(process.session)
            or self._by_parent(process.parent)
            or next((self._by_tag[tag] for tag in entry.tags or () if tag in self._by_tag), None)
            or self._by_start_time(entry)
        )

    def _by_session_id(self, session: int) -> Tree | None:
        if session not in self._by_session:
            return None
        tree, noted = self._by_session[session]
        leader = process_at(session)
        # A leader younger than our note got the pid after the old leader had ended.
        return tree if leader is None or leader.started <= noted else None

    def _by_parent(self, pid: int) -> Tree | None:
        parent = self._snapshot.entries.get(pid)
        if parent is None or parent.tree is None or parent.tree.ended.is_set():
            return None
        now = process_at(pid)  # the pid may have been reused
        return parent.tree if now and now.started == parent.process.started else None

    def _by_start_time(self, entry: "Entry") -> Tree | None:
        if not CHILDREN.is_adopted(entry.process):
            return None
        return next((tree for tree in self._trees if CHILDREN.only_run_at_start(tree.span, entry.process)), None)


class Entry:
    """One process, as it was last read, with the tags of the first reading, which tell from which run it came."""

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
    """The processes of this machine, remembered, so that an update costs little more than reading what is new."""

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
            for pid in self.entries.keys() - seen:
                entry = self.entries.pop(pid)
                entry.process = _dead(entry.process)


def _dead(process: Process) -> Process:
    return Process(process.pid, process.parent, process.group, process.session, process.started, alive=False)
