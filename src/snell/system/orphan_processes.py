"""
Processes that lost their parent.

A program that forks twice and lets its parent go becomes a child of process 1. Once `adopt_orphans` was called
it becomes a child of this process instead, so that it can be found whatever it did to its session, its
environment and its pipes, and so that it is this process that must wait for it (`reap_orphans`).

Such a child carries no sign of the run it came from. It is put down to a run when that was the only one going
on at its birth; where two were, it is left alone rather than guessed at.
"""

import contextlib
import os
import sys
import threading
from collections import deque

import msgspec

from .process_table import Ghost, Process, process_at, processes, ticks_now

SPANS_REMEMBERED = 1_000
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> bool:
    """
    Become the parent of every orphan among our descendants; False where the system cannot (not Linux).

    Our own command line and daemon call this when they start. From then on `reap_orphans` has to be called now
    and then, and a process that other code starts in a session of its own has to be named with `spare`.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        return False
    FAMILY.adopter = os.getpid()
    return True


def reap_orphans() -> int:
    """Wait for the orphans that were adopted and have died, and count them; call it every few seconds."""
    return FAMILY.reap_all()


def dead_orphans_wait() -> bool:
    """Whether orphans have died that the last `reap_orphans` left for the next one."""
    return FAMILY.has_seen_dead


def spare(pid: int) -> None:
    """Say that this child was started here on purpose, so that it is never taken for an orphan."""
    FAMILY.spared.add(pid)


def unspare(pid: int) -> None:
    """Take back `spare`, once the child was waited for."""
    FAMILY.spared.discard(pid)


class Span(msgspec.Struct, eq=False):
    """From when to when a run went on, in `Process.born` ticks."""

    start: int
    pid: int | None = None  # None while it is being started
    end: int | None = None

    def covers(self, moment: int) -> bool:
        return self.start <= moment and (self.end is None or moment <= self.end)


class Family:
    """Which children of this process are its own, which were adopted, and from which run these came."""

    def __init__(self, adopter: int = 0) -> None:
        self.adopter = adopter  # a pid, because a fork of the adopter adopts nobody
        self.spared: set[int] = set()
        self._seen_dead: set[Process] = set()
        self._lock = threading.Lock()
        self._going_on: list[Span] = []
        self._ended: deque[Span] = deque()
        self._forgotten_until = -1

    def begin_span(self) -> Span:
        """Note that a run begins; to be called before its process is started."""
        span = Span(ticks_now())
        with self._lock:
            self._going_on.append(span)
        return span

    def end_span(self, span: Span) -> None:
        """Note that a run ended; to be called once its process was waited for."""
        with self._lock:
            self._going_on.remove(span)
            span.end = ticks_now()
            self._ended.append(span)
            if len(self._ended) > SPANS_REMEMBERED:
                self._forgotten_until = max(self._forgotten_until, self._ended.popleft().end or 0)

    def was_born_in(self, span: Span, process: Process) -> bool:
        """Whether this was the only run going on when the process was born, as far as is remembered."""
        moment = process.born
        if moment <= self._forgotten_until or not span.covers(moment):
            return False
        with self._lock:
            others = [other for other in (*self._going_on, *self._ended) if other is not span]
        return not any(other.covers(moment) for other in others)

    def is_adopted(self, process: Process) -> bool:
        """Whether this is a child that came to us by its parent's death."""
        if self.adopter != os.getpid() or process.parent != self.adopter or process.pid in self.spared:
            return False
        # Runs have sessions of their own; a child in ours was started here.
        return process.session != os.getsid(0) and not self._is_of_a_run(process)

    def reap_all(self) -> int:
        """Wait for every adopted child that died. The table of processes is read only when some child did."""
        if self.adopter != os.getpid():
            return 0
        if not _a_child_is_dead():
            self._seen_dead = set()
            return 0
        everybody = (each for each in processes() if not isinstance(each, Ghost))
        dead = {each for each in everybody if not each.alive and self.is_adopted(each)}
        # One that leads its own session may be somebody's child who is about to wait for it: not in this round.
        due = [process for process in dead if process.session != process.pid or process in self._seen_dead]
        reaped = {process for process in due if self.reap(process)}
        self._seen_dead = dead - reaped
        return len(reaped)

    @property
    def has_seen_dead(self) -> bool:
        return bool(self._seen_dead)

    def reap(self, process: Process) -> bool:
        """Wait for this one, if it died and is nobody else's to wait for."""
        now = process_at(process.pid)
        if now is None or now.alive or now.born != process.born or not self.is_adopted(now):
            return False
        with contextlib.suppress(ChildProcessError):
            return os.waitpid(process.pid, os.WNOHANG)[0] == process.pid
        return False

    def _is_of_a_run(self, process: Process) -> bool:
        """Whether it is the main process of a run, or may be that of one whose pid is not known yet."""
        with self._lock:
            return any(
                span.pid == process.pid or (span.pid is None and span.start <= process.born) for span in self._going_on
            )


def _a_child_is_dead() -> bool:
    """Whether a child of this process has ended and was not waited for; the child is left as it is."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # there are no children
        return False


# Parenthood belongs to the operating system's process: there is one family in it, and nothing to pass around.
FAMILY = Family()
