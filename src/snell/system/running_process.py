"""A running process: wait for it, or end it with its process tree."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from .orphan_processes import CHILDREN, Span
from .process_killer import kill_tree
from .process_pipes import Pipes
from .process_tree import MARK_VARIABLE, Tree
from .recorded_runs import RUNS
from .spawn import spawn

if TYPE_CHECKING:
    from snell.model.context import CancelFlag

END_SECONDS = 0.85  # after the limit the caller gets its result, and the killing goes on without it
QUIET_SECONDS = 0.1
DRAIN_SECONDS = 0.5
LOOK_SECONDS = 0.05  # how often `cancel` is checked
LOOK_FOR_EXIT_SECONDS = 0.01  # if the system cannot wake us at the exit
WATCHED_BYTES = 65_536  # a process announces that it goes async at the beginning of its output


class Finished(msgspec.Struct, frozen=True):
    """The result of a run. With neither `exit_code` nor a reason the exit status is unknown: treat it as failed."""

    exit_code: int | None  # None when it never started or we ended it; 128 + n when signal n ended it
    signal: int | None
    stdout: bytes
    stderr: bytes
    truncated: bool  # some output was over its cap
    timed_out: bool
    cancelled: bool
    start_error: str | None  # why it could not start, and what to do
    seconds: float
    went_async: bool = False  # it continues in the background; `stdout` is its output until then


def start(
    argv: Sequence[str], *, stdin: bytes, cwd: str, env: Mapping[str, str], stdout_cap: int, stderr_cap: int
) -> "Running | Finished":
    """Start a process; returns a `Finished` with `start_error` if that fails. Raises nothing."""
    started = time.monotonic()
    mark = os.urandom(16).hex()
    # The marks of the enclosing runs stay, so that these find our processes as well.
    marks = f"{env[MARK_VARIABLE]} {mark}" if MARK_VARIABLE in env else mark
    span = CHILDREN.begin_span()
    process = spawn(argv, cwd, {**env, MARK_VARIABLE: marks})
    if isinstance(process, str):
        CHILDREN.end_span(span)
        return never_started(process, started)
    span.pid = process.pid
    RUNS.add(process.pid, mark)
    return Running(process, Pipes(process, stdin, stdout_cap, stderr_cap), mark, span, started)


def never_started(why: str | None, started: float, *, cancelled: bool = False) -> Finished:
    return Finished(None, None, b"", b"", False, False, cancelled, why, time.monotonic() - started)


class Running:
    """A process and its pipes. Its owner must call `wait`, which ends and frees it unless it went async."""

    def __init__(self, process: "subprocess.Popen[bytes]", pipes: Pipes, mark: str, span: Span, started: float) -> None:
        self.pid = process.pid
        self.started_at = started
        self._process = process
        self._pipes = pipes
        self._span = span
        self._tree = Tree(process.pid, pipes.names | {mark}, span)
        self._is_ending = False
        self._freed = False
        self._status: tuple[int | None, int | None] | None = None
        self._exit_descriptor = _exit_descriptor(process.pid)
        if self._exit_descriptor is not None:
            pipes.wake_on(self._exit_descriptor)

    def wait(
        self, deadline: float, cancel: "CancelFlag | None" = None, watch_stdout: Callable[[bytes], bool] | None = None
    ) -> Finished:
        """Wait for the end, or end it at `deadline` (monotonic clock) or when `cancel` is set."""
        try:
            why = self._wait_for_outcome(deadline, cancel, watch_stdout)
            if why == "went_async":
                return self._result(went_async=True)
            if why == "exited":
                finished = self._result()
                self._free()
                return finished
            self.end()
            return self._result(**{why: True})
        except BaseException:  # not even an interrupt may leave processes behind
            self.end()
            raise

    def end(self) -> None:
        """End every process of this run; what takes longer than the caller can wait continues in a thread."""
        if self._freed:
            return
        until = time.monotonic() + END_SECONDS
        self._pipes.close_input()
        if not self._is_ending:
            self._is_ending = True
            kill_tree(self._tree)
        while not self._tree.ended.is_set() and time.monotonic() < until:
            self._has_exited()
            self._pipes.move(0.01)
        self._pipes.drain()
        self._pipes.close()
        if self._tree.ended.is_set() and self._has_exited():
            self._free()
        else:
            self._free_later()

    def _wait_for_outcome(
        self, deadline: float, cancel: "CancelFlag | None", watch: Callable[[bytes], bool] | None
    ) -> str:
        step = LOOK_FOR_EXIT_SECONDS if self._exit_descriptor is None else LOOK_SECONDS if cancel else 60.0
        watched = 0
        while True:
            exited = self._has_exited()
            if exited:
                self._drain()
            # INVARIANT: output is shown to the watcher before the exit is, so a short run and a long one agree.
            if watch and watched < min(len(self._pipes.stdout), WATCHED_BYTES):
                output = bytes(self._pipes.stdout)[:WATCHED_BYTES]
                watched = len(output)
                if watch(output):
                    return "went_async"
            if exited:
                return "exited"
            if cancel and cancel.is_set():
                return "cancelled"
            left = deadline - time.monotonic()
            if left <= 0:
                return "timed_out"
            self._pipes.move(min(left, step))

    def _has_exited(self) -> bool:
        if self._status is None:
            self._status = _status(self._process)
            if self._status is not None and self._exit_descriptor is not None:
                self._pipes.stop_waking_on(self._exit_descriptor)
                os.close(self._exit_descriptor)
                self._exit_descriptor = None
        return self._status is not None

    def _drain(self) -> None:
        """Read what is left. A background child may hold the pipes open for ever, so silence ends it, too."""
        self._pipes.close_input()
        now = time.monotonic()
        limit, quiet = now + DRAIN_SECONDS, now + QUIET_SECONDS
        while not self._pipes.at_end and now < min(limit, quiet):
            has_output = self._pipes.move(min(limit, quiet) - now)
            now = time.monotonic()
            if has_output:
                quiet = now + QUIET_SECONDS

    def _free_later(self) -> None:
        def free() -> None:
            self._tree.ended.wait()
            self._process.wait()
            self._free()

        # If no thread can be started, a zombie and three descriptors stay; the processes end all the same.
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=free, name=f"snell-free-{self.pid}", daemon=True).start()

    def _free(self) -> None:
        if not self._freed:
            self._freed = True
            self._pipes.close()
            if self._exit_descriptor is not None:
                os.close(self._exit_descriptor)
            self._process.poll()
            CHILDREN.end_span(self._span)
            RUNS.remove(self.pid)

    def _result(self, *, timed_out: bool = False, cancelled: bool = False, went_async: bool = False) -> Finished:
        exit_code, number = self._status or (None, None)
        return Finished(
            exit_code=None if timed_out or cancelled or went_async else exit_code,
            signal=None if went_async else number,
            stdout=bytes(self._pipes.stdout),
            stderr=bytes(self._pipes.stderr),
            truncated=self._pipes.stdout.truncated or self._pipes.stderr.truncated,
            timed_out=timed_out,
            cancelled=cancelled,
            start_error=None,
            seconds=time.monotonic() - self.started_at,
            went_async=went_async,
        )


def _exit_descriptor(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process exits."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return None


def _status(process: "subprocess.Popen[bytes]") -> tuple[int | None, int | None] | None:
    """Return exit code and signal, or None while it runs; on Linux it is not reaped yet, so its pid stays taken."""
    if sys.platform != "linux":
        code = process.poll()
        return None if code is None else (code, None) if code >= 0 else (128 - code, -code)
    try:
        ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        # Other code waited for it. Popen would now say 0, which a failed guard must never be taken for.
        return (None, None)
    if ended is None:
        return None
    if ended.si_code == os.CLD_EXITED:
        return (ended.si_status, None)
    return (128 + ended.si_status, ended.si_status)
