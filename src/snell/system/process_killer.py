"""
The end of whole process trees, of any number of runs at once.

A tree is looked at, asked to end (TERM), and has a moment for it. What is left is ended in two steps, because a
process that forks faster than it is killed would win: everything found is stopped, and looked for again until
nothing new turns up; then all of it is killed, and looked for until it has gone.

One thread does this for all runs, with one look at the machine for all of them: fifty runs that time out together
would otherwise spend the processor on looking, and none would end in time.
"""

import signal
import threading
import time

from .process_snapshot import Entry, ProcessSnapshot
from .process_table import Ghost, send_group
from .process_tree import Ownership, Tree, send_with_group

GRACE_SECONDS = 0.5
FREEZE_SECONDS = 0.25
GIVE_UP_SECONDS = 10.0  # for one that even KILL does not end: it waits for a dead disk, or is another user's
QUIET_LOOKS = 3


def kill_tree(tree: Tree) -> None:
    """See to it that every process of the tree ends; `tree.ended` is set when they have."""
    # Stopped until they have been looked at: nobody leaves unseen, and what takes the whole processor gives it back.
    send_group(tree.main, signal.SIGSTOP)
    with _lock:
        _waiting.append(tree)
        if _workers:
            return
        worker = threading.Thread(target=_work, name="snell-undertaker", daemon=True)
        try:
            worker.start()  # it waits for the lock that we hold
            _workers.append(worker)
            return
        except RuntimeError:
            pass  # no room for a thread, which a fork bomb can bring about: we do it ourselves
    _work()


def _work() -> None:
    undertaker = _Undertaker()
    try:
        while True:
            with _lock:
                arrived = _waiting[:]
                _waiting.clear()
                if not arrived and not undertaker.cases:
                    _workers.clear()
                    return
            undertaker.go_round(arrived)
    except BaseException:  # nobody comes after us: the least is done for those that are left
        with _lock:
            left = [*undertaker.cases, *_waiting]
            _waiting.clear()
            _workers.clear()
        for tree in left:
            tree.send(signal.SIGKILL)
            tree.ended.set()
        raise


class _Case:
    """One tree on its way: asked, then stopped, then killed."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.began = time.monotonic()
        self.step: signal.Signals = signal.SIGTERM
        self.step_began = self.began
        self.quiet = 0  # looks in a row that found nothing new

    def goes_to(self, step: signal.Signals) -> None:
        self.step, self.step_began, self.quiet = step, time.monotonic(), 0
        self.tree.send(step)

    def is_settled(self) -> bool:
        return self.quiet >= QUIET_LOOKS or time.monotonic() >= self.step_began + FREEZE_SECONDS


class _Undertaker:
    def __init__(self) -> None:
        self.cases: dict[Tree, _Case] = {}
        self._census = ProcessSnapshot()
        self._ownership = Ownership(self._census)

    def go_round(self, arrived: list[Tree]) -> None:
        """Take in what has arrived, and bring every case as far as it can be brought now."""
        started = time.monotonic()
        if arrived:
            self._take_in(arrived)
        for case in self._at(signal.SIGTERM):
            case.tree.refresh()
            if case.tree.is_over() or started >= case.began + GRACE_SECONDS:
                case.goes_to(signal.SIGSTOP)
        pressing = [*self._at(signal.SIGSTOP), *self._at(signal.SIGKILL)]
        if pressing:
            # The last look before a conclusion is at everything.
            self._look(at_all=any(case.quiet == QUIET_LOOKS - 1 for case in pressing))
            self._conclude()
        if not self._at(signal.SIGSTOP):
            # The killed need the processor to go, and those that were asked need time; we take a quarter at most.
            busy = time.monotonic() - started
            time.sleep(max(0.002 if pressing else 0.015, min(3 * busy, 0.1)))

    def _at(self, step: signal.Signals) -> list[_Case]:
        return [case for case in self.cases.values() if case.step == step]

    def _take_in(self, arrived: list[Tree]) -> None:
        for tree in arrived:
            self.cases[tree] = _Case(tree)
            self._ownership.add(tree)
        # Once parents have gone, those that left the group are harder to tell, so they are looked for before.
        self._look(at_all=True)
        for tree in arrived:
            tree.send(signal.SIGTERM)
            tree.send(signal.SIGCONT)

    def _look(self, *, at_all: bool) -> None:
        for case in self.cases.values():
            case.quiet += 1
        changed = at_all
        for found in self._census.look(at_all=at_all):
            if isinstance(found, Ghost):
                for case in self.cases.values():  # it may have been anybody's
                    case.quiet = 0
            elif placed := self._ownership.place([found]):
                self._greet(placed)
                changed = True
        if changed:
            self._greet(self._ownership.place(self._census.entries.values()))

    def _greet(self, new: list[Entry]) -> None:
        """Signal a new member at once, before it forks again."""
        for entry in new:
            case = self.cases.get(entry.tree) if entry.tree else None
            if case and entry.process.alive:
                case.quiet = 0
                if case.step != signal.SIGTERM:
                    send_with_group(entry, case.step)

    def _conclude(self) -> None:
        for case in self._at(signal.SIGKILL):
            late = time.monotonic() >= case.began + GIVE_UP_SECONDS
            case.tree.refresh()
            if late or (case.is_settled() and case.tree.is_over()):
                self._bury(case)
            elif case.is_settled():
                case.tree.send_each(signal.SIGKILL)
        for case in self._at(signal.SIGSTOP):
            if case.is_settled():
                case.goes_to(signal.SIGKILL)

    def _bury(self, case: _Case) -> None:
        del self.cases[case.tree]
        self._ownership.remove(case.tree)
        case.tree.reap()
        case.tree.ended.set()


# One for the operating system's process, like the processes it is about.
_lock = threading.Lock()
_waiting: list[Tree] = []
_workers: list[threading.Thread] = []
