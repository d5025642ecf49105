"""
Run a program with a deadline, whatever it does.

The program gets its input while its output is read, a session of its own, and a limit on time and output. At its limit
it is ended together with every process it started, even those that left its session: at most one second later the
caller has its result, at most two seconds later all of them are gone. That holds on Linux; on macOS processes are
found by ancestry and group alone, so one that left its group and lost its parent stays. `process_tree` says how they
are found and what stays out of reach.

A program that ends by itself is waited for until its own exit only: what it left in the background is left alone,
even if it holds the pipes open.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .child_environment import environment
from .orphan_processes import adopt_orphans
from .running_process import Finished, Running, never_started, start

if TYPE_CHECKING:
    from snell.model.context import CancelFlag

__all__ = ["Finished", "Running", "adopt_orphans", "background_runs", "end_background_runs", "environment"]
__all__ += ["finish_in_background", "run"]

BACKGROUND_SECONDS = 15.0
JOIN_SECONDS = 2.5


def run(
    argv: Sequence[str],
    *,
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    stdout_cap: int = 1_000_000,
    stderr_cap: int = 256_000,
    cancel: "CancelFlag | None" = None,
    watch_stdout: Callable[[bytes], bool] | None = None,
    hand_over: Callable[[Running], None] | None = None,
) -> Finished:
    """
    Run `argv` and return the result; a program that cannot be started has one, too.

    Args:
        env: the complete environment of the program; see `environment`.
        timeout: seconds from the start.
        cancel: ends the run when it is set from another thread.
        watch_stdout: gets the output so far each time it grows (its first 64 KB). When it returns True the run
            goes to the background: `hand_over` gets it, and the result says `went_async`.
        hand_over: has to call `finish_in_background`, with the limit and callback that the run has there; without it
            the run gets a default time, and its result is discarded.
    """
    if cancel is not None and cancel.is_set():
        return never_started(None, time.monotonic(), cancelled=True)
    running = start(argv, stdin=stdin, cwd=cwd, env=env, stdout_cap=stdout_cap, stderr_cap=stderr_cap)
    if isinstance(running, Finished):
        return running
    finished = running.wait(running.started_at + timeout, cancel, watch_stdout)
    if finished.went_async:
        try:
            if hand_over:
                hand_over(running)
            else:
                finish_in_background(running, BACKGROUND_SECONDS, lambda finished: None)
        except BaseException:
            running.end()
            raise
    return finished


def finish_in_background(
    running: Running, timeout: float, on_done: Callable[[Finished], None], cancel: "CancelFlag | None" = None
) -> None:
    """Wait for the run in a thread, at most `timeout` from now or until `cancel`, then call `on_done` there."""
    flag, deadline = cancel or threading.Event(), time.monotonic() + timeout

    def wait_and_report() -> None:
        try:
            on_done(running.wait(deadline, flag))
        finally:
            with _lock:
                del _waiting[running]

    thread = threading.Thread(target=wait_and_report, name=f"snell-background-{running.pid}", daemon=True)
    with _lock:
        _waiting[running] = (thread, flag)
    try:
        thread.start()
    except RuntimeError:  # no thread can be started: end the process here rather than leave it running
        flag.set()
        wait_and_report()


def background_runs() -> tuple[Running, ...]:
    """Return the runs in progress; a run leaves the list after its `on_done` was called."""
    with _lock:
        return tuple(_waiting)


def end_background_runs() -> None:
    """End all of them, each with its process tree; their `on_done` gets a cancelled run."""
    with _lock:
        waiting = tuple(_waiting.values())
    for _, flag in waiting:
        flag.set()
    until = time.monotonic() + JOIN_SECONDS
    for thread, _ in waiting:
        if thread is not threading.current_thread():
            thread.join(max(0.0, until - time.monotonic()))


# Process-wide, like the child processes themselves: callers of every runtime in this process share it.
_lock = threading.Lock()
_waiting: dict[Running, tuple[threading.Thread, "CancelFlag"]] = {}
