"""A deadline with a cancel flag."""

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snell.model.context import CancelFlag

SLICE = 0.05  # seconds after which a waiting thread checks whether it was cancelled


class DeadlineExceededError(Exception):
    """The time limit has passed."""


class CancelledError(Exception):
    """The work was cancelled."""


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
