"""A deadline with a cancel flag, and a lock with a time limit."""

import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from snell.model.errors import StoreError

if TYPE_CHECKING:
    from snell.model.context import CancelFlag

SLICE = 0.05  # seconds after which a waiting thread checks whether it was cancelled


class DeadlineExceededError(Exception):
    """The time limit has passed."""


class CancelledError(Exception):
    """The work was cancelled."""


class FailedError(Exception):
    """What a hook waited for failed; `kind` is the kind of the hook's failure."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Deadline:
    def __init__(self, seconds: float, cancel: "CancelFlag | None" = None) -> None:
        self.seconds = seconds
        self.cancel = cancel
        self._deadline = time.monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds left. Raises when there are none, or when the work was cancelled."""
        if self.cancel and self.cancel.is_set():
            raise CancelledError
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise DeadlineExceededError
        return left

    def slice(self) -> float:
        """Return how many seconds to wait before checking again."""
        return min(SLICE, self.remaining())


class BoundedLock:
    """
    Like `threading.RLock`, but `with` raises `StoreError` when another thread holds it for too long: two threads that
    wait for each other get an error instead of a deadlock.
    """

    def __init__(self, what: str, seconds: float) -> None:
        self._what, self._seconds = what, seconds
        self._lock = threading.RLock()
        self._try = self._lock.acquire
        self.release = self._lock.release

    def acquire(self) -> None:
        if not self._try(False) and not self._try(timeout=self._seconds):
            raise StoreError(f"another thread has held it for {self._seconds:g} s", where=self._what)

    __enter__ = acquire

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lock.release()
