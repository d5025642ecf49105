"""
Orphan processes: adopt them, attribute them to a run, and reap them.

The child of a process that forks twice and exits is inherited by process 1. After `adopt_orphans` it becomes a child of
this process instead (a subreaper), so that it can be found whatever it did to its session, environment and pipes, and
so that this process has to wait for it (`Children.reap_all`).

Such a child has no tag of its run. It is attributed to a run if that was the only one in progress when the child
started; if there were two, it is left alone.
"""

import contextlib
import os
import sys
import threading
from collections import deque
from collections.abc import Callable

import msgspec

from .process_table import Process, Vanished, process_at, processes, ticks_now

SPANS_REMEMBERED = 1_000


def adopt_orphans(is_subreaper: bool = False) -> bool:
    """
    Become the parent of every orphan among our descendants; False if the system cannot (not Linux).

    The command line and the daemon call this when they start. From then on `CHILDREN.reap_all` has to be called every
    few seconds, and a process that other code starts in a session of its own is added to `CHILDREN.spared`.
    """
    if sys.platform != "linux":
        return False
    if not is_subreaper:
        import ctypes  # slow to import

        if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) != 0:  # PR_SET_CHILD_SUBREAPER
            return False
    CHILDREN.adopter = os.getpid()
    return True


class Span(msgspec.Struct, eq=False):
    """The time in which a run was in progress, in ticks like `Process.started`."""

    start: int
    pid: int | None = None  # None while it is being started
    end: int | None = None

    def covers(self, started: int) -> bool:
        return self.start <= started and (self.end is None or started <= self.end)


class Children:
    """The children of this process: which it started, which it adopted, and from which run those came."""

    def __init__(self, adopter: int = 0) -> None:
        self.adopter = adopter  # a pid, because a fork of the adopter adopts no orphan
        self.spared: set[int] = set()  # children that are never taken for orphans, until they were waited for
        self.seen_dead: set[Process] = set()  # orphans that have died and that `reap_all` left for the next round
        self.before_first_run: Callable[[], object] | None = None
        self._lock = threading.Lock()
        self._active: list[Span] = []
        self._ended: deque[Span] = deque()
        self._forgotten_until = -1

    def adopt_if_needed(self) -> None:
        """Call the function that was set to adopt orphans from the first run on."""
        before_first_run, self.before_first_run = self.before_first_run, None
        if before_first_run:
            before_first_run()

    def begin_span(self) -> Span:
        """Note that a run begins; call it before its process is started."""
        self.adopt_if_needed()
        span = Span(ticks_now())
        with self._lock:
            self._active.append(span)
        return span

    def end_span(self, span: Span) -> None:
        """Note that a run ended; call it after its process was waited for."""
        with self._lock:
            self._active.remove(span)
            span.end = ticks_now()
            self._ended.append(span)
            if len(self._ended) > SPANS_REMEMBERED:
                self._forgotten_until = max(self._forgotten_until, self._ended.popleft().end or 0)

    def only_run_at_start(self, span: Span, process: Process) -> bool:
        """Whether this was the only run in progress when the process started, as far as is remembered."""
        started = process.started
        if started <= self._forgotten_until or not span.covers(started):
            return False
        with self._lock:
            others = [other for other in (*self._active, *self._ended) if other is not span]
        return not any(other.covers(started) for other in others)

    def is_adopted(self, process: Process) -> bool:
        """Whether this child became ours by the death of its parent."""
        if self.adopter != os.getpid() or process.parent != self.adopter or process.pid in self.spared:
            return False
        # Runs have sessions of their own; a child in ours was started here.
        return process.session != os.getsid(0) and not self._is_of_a_run(process)

    def reap_all(self) -> int:
        """Wait for the adopted children that died; return how many. Reads the process table only if some child did."""
        if self.adopter != os.getpid():
            return 0
        if not _has_zombie():
            self.seen_dead = set()
            return 0
        everything = (each for each in processes() if not isinstance(each, Vanished))
        dead = {each for each in everything if not each.alive and self.is_adopted(each)}
        # A session leader may be a child that other code is about to wait for: it is reaped in the next round.
        due = [process for process in dead if process.session != process.pid or process in self.seen_dead]
        reaped = {process for process in due if self.reap(process)}
        self.seen_dead = dead - reaped
        return len(reaped)

    def reap(self, process: Process) -> bool:
        """Wait for this process if it died and no other code has to wait for it."""
        now = process_at(process.pid)
        if now is None or now.alive or now.started != process.started or not self.is_adopted(now):
            return False
        with contextlib.suppress(ChildProcessError):
            return os.waitpid(process.pid, os.WNOHANG)[0] == process.pid
        return False

    def _is_of_a_run(self, process: Process) -> bool:
        """Whether it is the main process of a run, or may be that of a run whose pid is not known yet."""
        with self._lock:
            return any(
                span.pid == process.pid or (span.pid is None and span.start <= process.started) for span in self._active
            )


def _has_zombie() -> bool:
    """Whether a child of this process is a zombie; it is not reaped."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # there are no children
        return False


# One per operating system process, like the children themselves.
CHILDREN = Children()
