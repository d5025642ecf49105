"""
Every process that one run started, wherever it went.

A process belongs to the run when one of these holds:

- its parent belongs, or it is in a group or session that one that belongs made or was in;
- the run's mark is in its environment;
- its standard input, output or error is one of the run's pipes;
- it is an orphan that we adopted and that was born during this run alone.

What stays out of reach: a process of another user, and, where orphans are not adopted, one that left its session,
cleared its environment, closed its pipes and lost its parent before it was looked for.
"""

import os
import threading
from collections.abc import Iterable
from signal import Signals

from .orphan_processes import FAMILY, Span
from .process_snapshot import Entry, ProcessSnapshot
from .process_table import process_at, send, send_group, ticks_now


class Tree:
    """The processes of one run. INVARIANT: its main process is not waited for before the tree has ended."""

    def __init__(self, main: int, signs: frozenset[str], span: Span) -> None:
        self.main = main
        self.signs = signs
        self.span = span
        self.members: list[Entry] = []
        self.ended = threading.Event()

    def is_over(self) -> bool:
        """Whether every member, as last seen, has gone."""
        return not any(entry.process.alive for entry in self.members)

    def refresh(self) -> None:
        for entry in self.members:
            if entry.process.alive:
                entry.refresh()

    def send(self, number: Signals) -> None:
        """Signal all members: whole groups first, which the kernel reaches at once, whatever they are forking."""
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
                FAMILY.reap(entry.process)


def send_with_group(entry: Entry, number: Signals) -> None:
    """Signal a member and its group: who shares a group shares a session, which holds the run's processes alone."""
    if not send(entry.process, number):
        return
    now = process_at(entry.process.pid)
    if now and now.born == entry.process.born and now.group not in (0, 1, os.getpgrp()):
        send_group(now.group, number)


class Ownership:
    """Which process belongs to which of several trees."""

    def __init__(self, snapshot: ProcessSnapshot) -> None:
        self._census = snapshot
        self._own_session = os.getsid(0)
        self._trees: list[Tree] = []
        self._by_sign: dict[str, Tree] = {}
        self._by_group: dict[int, Tree] = {}
        self._by_session: dict[int, tuple[Tree, int]] = {}  # and when it was first seen in use

    def add(self, tree: Tree) -> None:
        self._trees.append(tree)
        self._by_sign |= dict.fromkeys(tree.signs, tree)
        self._by_group[tree.main] = tree
        self._by_session[tree.main] = (tree, ticks_now())

    def remove(self, tree: Tree) -> None:
        self._trees.remove(tree)
        self._by_sign = {sign: owner for sign, owner in self._by_sign.items() if owner is not tree}
        self._by_group = {group: owner for group, owner in self._by_group.items() if owner is not tree}
        self._by_session = {session: owner for session, owner in self._by_session.items() if owner[0] is not tree}

    def place(self, entries: Iterable[Entry]) -> list[Entry]:
        """Give each entry to the tree it belongs to, and return those that found one."""
        waiting = [entry for entry in entries if entry.tree is None and entry.process.session != self._own_session]
        placed: list[Entry] = []
        found = True
        while found:  # one that found its tree may be the parent of one that did not
            found = False
            for entry in waiting:
                if entry.tree is None and (tree := self._owner(entry)):
                    self._give(entry, tree)
                    placed.append(entry)
                    found = True
        return placed

    def _give(self, entry: Entry, tree: Tree) -> None:
        entry.tree = tree
        tree.members.append(entry)
        if entry.process.session:
            self._by_session.setdefault(entry.process.session, (tree, ticks_now()))

    def _owner(self, entry: Entry) -> Tree | None:
        process = entry.process
        return (
            self._by_group.get(process.pid)
            or self._by_group.get(process.group)
            or self._by_sessions_number(process.session)
            or self._by_parent(process.parent)
            or next((self._by_sign[sign] for sign in entry.signs or () if sign in self._by_sign), None)
            or self._by_birth(entry)
        )

    def _by_sessions_number(self, session: int) -> Tree | None:
        if session not in self._by_session:
            return None
        tree, noted = self._by_session[session]
        leader = process_at(session)
        # A leader younger than our note got the number after ours had gone.
        return tree if leader is None or leader.born <= noted else None

    def _by_parent(self, pid: int) -> Tree | None:
        parent = self._census.entries.get(pid)
        if parent is None or parent.tree is None or parent.tree.ended.is_set():
            return None
        return parent.tree if self._census.living(pid) is parent else None

    def _by_birth(self, entry: Entry) -> Tree | None:
        if not FAMILY.is_adopted(entry.process):
            return None
        return next((tree for tree in self._trees if FAMILY.was_born_in(tree.span, entry.process)), None)
