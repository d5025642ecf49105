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

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .background_processes import background_runs, end_background_runs, finish_in_background
from .child_environment import environment
from .orphan_processes import adopt_orphans, dead_orphans_wait, reap_orphans, spare, unspare
from .running_process import Finished, Running, never_started, start

if TYPE_CHECKING:
    from snell.model.context import CancelFlag

__all__ = [
    "Finished",
    "Running",
    "adopt_orphans",
    "background_runs",
    "dead_orphans_wait",
    "end_background_runs",
    "environment",
    "finish_in_background",
    "reap_orphans",
    "run",
    "spare",
    "unspare",
]

BACKGROUND_SECONDS = 15.0


def keep_in_background(running: Running) -> None:
    """Give a run that went async the default time, and discard its result."""
    finish_in_background(running, BACKGROUND_SECONDS, lambda finished: None)


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
    hand_over: Callable[[Running], None] = keep_in_background,
) -> Finished:
    """
    Run `argv` and return the result; a program that cannot be started has one, too.

    Args:
        env: the complete environment of the program; see `environment`.
        timeout: seconds from the start.
        cancel: ends the run when it is set from another thread.
        watch_stdout: gets the output so far each time it grows (its first 64 KB). When it returns True the run
            goes to the background: `hand_over` gets it, and the result says `went_async`.
        hand_over: has to call `finish_in_background`, with the limit and callback that the run has there.
    """
    if cancel is not None and cancel.is_set():
        return never_started(None, time.monotonic(), cancelled=True)
    running = start(argv, stdin=stdin, cwd=cwd, env=env, stdout_cap=stdout_cap, stderr_cap=stderr_cap)
    if isinstance(running, Finished):
        return running
    finished = running.wait(running.started_at + timeout, cancel, watch_stdout)
    if finished.went_async:
        try:
            hand_over(running)
        except BaseException:
            running.end()
            raise
    return finished
