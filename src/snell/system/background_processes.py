"""Processes that go on running after their caller has its reply."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from .running_process import Finished, Running

if TYPE_CHECKING:
    from snell.model.context import CancelFlag

JOIN_SECONDS = 2.5


def finish_in_background(
    running: Running,
    timeout: float,
    on_done: Callable[[Finished], None],
    cancel: "CancelFlag | None" = None,
) -> None:
    """Wait for the run in a thread, at most `timeout` from now or until `cancel`, then call `on_done` there."""
    waiter = _Waiter(running, time.monotonic() + timeout, on_done, cancel or threading.Event())
    with _lock:
        _waiters.add(waiter)
    try:
        waiter.thread.start()
    except RuntimeError:  # no thread can be started: end the process here rather than leave it running
        waiter.cancel.set()
        waiter.wait_and_report()


def background_runs() -> tuple[Running, ...]:
    """Return the runs in progress; a run leaves the list after its `on_done` was called."""
    with _lock:
        return tuple(waiter.running for waiter in _waiters)


def end_background_runs() -> None:
    """End all of them, each with its process tree; their `on_done` gets a cancelled run."""
    with _lock:
        waiters = tuple(_waiters)
    for waiter in waiters:
        waiter.cancel.set()
    until = time.monotonic() + JOIN_SECONDS
    for waiter in waiters:
        if waiter.thread is not threading.current_thread():
            waiter.thread.join(max(0.0, until - time.monotonic()))


class _Waiter:
    def __init__(
        self, running: Running, deadline: float, on_done: Callable[[Finished], None], cancel: "CancelFlag"
    ) -> None:
        self.running = running
        self.cancel = cancel
        self.thread = threading.Thread(target=self.wait_and_report, name=f"snell-background-{running.pid}", daemon=True)
        self._deadline = deadline
        self._on_done = on_done

    def wait_and_report(self) -> None:
        try:
            self._on_done(self.running.wait(self._deadline, self.cancel))
        finally:
            with _lock:
                _waiters.discard(self)


# Process-wide, like the child processes themselves: callers of every runtime in this process share it.
_lock = threading.Lock()
_waiters: set[_Waiter] = set()
