"""
Kill complete process trees, of any number of runs at once.

A tree gets SIGTERM and a moment to end. What is left is ended in two steps, because a process that forks faster than it
is killed would win: every process found gets SIGSTOP, and the search repeats until nothing new turns up; then all of
them get SIGKILL, and the search repeats until they have ended.

One thread does this for all runs, with one process snapshot for all of them: fifty runs that time out together would
otherwise spend the processor on searching, and none would end in time.
"""

import signal
import threading
import time

from .process_table import Vanished, send_group
from .process_tree import Entry, Ownership, ProcessSnapshot, Tree, send_with_group

GRACE_SECONDS = 0.5
FREEZE_SECONDS = 0.25
GIVE_UP_SECONDS = 10.0  # for a process that SIGKILL does not end: it waits for a dead disk, or is another user's
QUIET_SEARCHES = 3


def kill_tree(tree: Tree) -> None:
    """End every process of the tree; sets `tree.ended` when that is done."""
    # SIGSTOP first, so that no child can fork away while the tree is enumerated, and a busy one frees the processor.
    send_group(tree.main, signal.SIGSTOP)
    with _lock:
        _waiting.append(tree)
        if _workers:
            return
        worker = threading.Thread(target=_work, name="snell-process-killer", daemon=True)
        try:
            worker.start()  # it waits for the lock that this thread holds
            _workers.append(worker)
            return
        except RuntimeError:
            pass  # no thread can be started, which a fork bomb can cause: do it in this thread
    _work()


def _work() -> None:
    killer = _ProcessKiller()
    try:
        while True:
            with _lock:
                arrived = _waiting[:]
                _waiting.clear()
                if not arrived and not killer.cases:
                    _workers.clear()
                    return
            killer.advance(arrived)
    except BaseException:  # no other thread continues: kill what is left without a search
        with _lock:
            left = [*killer.cases, *_waiting]
            _waiting.clear()
            _workers.clear()
        for tree in left:
            tree.send(signal.SIGKILL)
            tree.ended.set()
        raise


class _Case:
    """One tree in its current step: SIGTERM, SIGSTOP or SIGKILL."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.began = time.monotonic()
        self.step: signal.Signals = signal.SIGTERM
        self.step_began = self.began
        self.quiet = 0  # consecutive searches that found nothing new

    def go_to(self, step: "signal.Signals") -> None:
        self.step, self.step_began, self.quiet = step, time.monotonic(), 0
        self.tree.send(step)

    def is_settled(self) -> bool:
        return self.quiet >= QUIET_SEARCHES or time.monotonic() >= self.step_began + FREEZE_SECONDS


class _ProcessKiller:
    def __init__(self) -> None:
        self.cases: dict[Tree, _Case] = {}
        self._snapshot = ProcessSnapshot()
        self._ownership = Ownership(self._snapshot)

    def advance(self, arrived: list[Tree]) -> None:
        """Add the trees that arrived, and advance every case as far as possible now."""
        started = time.monotonic()
        if arrived:
            self._add(arrived)
        for case in self._at(signal.SIGTERM):
            case.tree.refresh()
            if case.tree.is_over() or started >= case.began + GRACE_SECONDS:
                case.go_to(signal.SIGSTOP)
        pressing = [*self._at(signal.SIGSTOP), *self._at(signal.SIGKILL)]
        if pressing:
            # The last search before a case advances reads everything.
            self._search(everything=any(case.quiet == QUIET_SEARCHES - 1 for case in pressing))
            self._advance_settled()
        if not self._at(signal.SIGSTOP):
            # Killed processes need the processor to end, and those with SIGTERM need time; use a quarter at most.
            busy = time.monotonic() - started
            time.sleep(max(0.002 if pressing else 0.015, min(3 * busy, 0.1)))

    def _at(self, step: "signal.Signals") -> list[_Case]:
        return [case for case in self.cases.values() if case.step == step]

    def _add(self, arrived: list[Tree]) -> None:
        for tree in arrived:
            self.cases[tree] = _Case(tree)
            self._ownership.add(tree)
        # Once parents have ended, processes that left the group are harder to attribute, so search before.
        self._search(everything=True)
        for tree in arrived:
            tree.send(signal.SIGTERM)
            tree.send(signal.SIGCONT)

    def _search(self, *, everything: bool) -> None:
        for case in self.cases.values():
            case.quiet += 1
        changed = everything
        for found in self._snapshot.update(everything=everything):
            if isinstance(found, Vanished):
                for case in self.cases.values():  # it may have belonged to any tree
                    case.quiet = 0
            elif assigned := self._ownership.assign([found]):
                self._signal_new(assigned)
                changed = True
        if changed:
            self._signal_new(self._ownership.assign(self._snapshot.entries.values()))

    def _signal_new(self, new: list[Entry]) -> None:
        """Signal a new member at once, before it forks again."""
        for entry in new:
            case = self.cases.get(entry.tree) if entry.tree else None
            if case and entry.process.alive:
                case.quiet = 0
                if case.step != signal.SIGTERM:
                    send_with_group(entry, case.step)

    def _advance_settled(self) -> None:
        for case in self._at(signal.SIGKILL):
            late = time.monotonic() >= case.began + GIVE_UP_SECONDS
            case.tree.refresh()
            if late or (case.is_settled() and case.tree.is_over()):
                del self.cases[case.tree]
                self._ownership.remove(case.tree)
                case.tree.reap()
                case.tree.ended.set()
            elif case.is_settled():
                case.tree.send_each(signal.SIGKILL)
        for case in self._at(signal.SIGSTOP):
            if case.is_settled():
                case.go_to(signal.SIGKILL)


# One per operating system process, like the processes that it kills.
_lock = threading.Lock()
_waiting: list[Tree] = []
_workers: list[threading.Thread] = []
