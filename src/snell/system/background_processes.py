"""Runs that go on after their caller has its answer."""

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
    keeper = _Keeper(running, time.monotonic() + timeout, on_done, cancel or threading.Event())
    with _lock:
        _keepers.add(keeper)
    try:
        keeper.thread.start()
    except RuntimeError:  # no room for a thread: rather no background than a process that nobody ends
        keeper.cancel.set()
        keeper.keep()


def background_runs() -> tuple[Running, ...]:
    """The runs that go on now; one leaves the list after its `on_done` was called."""
    with _lock:
        return tuple(keeper.running for keeper in _keepers)


def end_background_runs() -> None:
    """End all of them with everything they started; their `on_done` gets a cancelled run."""
    with _lock:
        keepers = tuple(_keepers)
    for keeper in keepers:
        keeper.cancel.set()
    until = time.monotonic() + JOIN_SECONDS
    for keeper in keepers:
        if keeper.thread is not threading.current_thread():
            keeper.thread.join(max(0.0, until - time.monotonic()))


class _Keeper:
    def __init__(
        self, running: Running, deadline: float, on_done: Callable[[Finished], None], cancel: "CancelFlag"
    ) -> None:
        self.running = running
        self.cancel = cancel
        self.thread = threading.Thread(target=self.keep, name=f"snell-background-{running.pid}", daemon=True)
        self._deadline = deadline
        self._on_done = on_done

    def keep(self) -> None:
        try:
            self._on_done(self.running.wait(self._deadline, self.cancel))
        finally:
            with _lock:
                _keepers.discard(self)


# Like the processes themselves, the list belongs to the operating system's process, whoever started them in it.
_lock = threading.Lock()
_keepers: set[_Keeper] = set()
