"""How long somebody is willing to wait for a whole piece of work, and whether they still are."""

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snell.model.context import CancelFlag

SLICE = 0.05  # seconds after which whoever waits looks up to see whether it was cancelled


class DeadlineExceededError(Exception):
    """The time limit has passed."""


class CancelledError(Exception):
    """Somebody does not want it any more."""


class Deadline:
    def __init__(self, seconds: float, cancel: "CancelFlag | None" = None) -> None:
        self.seconds = seconds
        self.cancel = cancel
        self._deadline = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left. Raises when there are none, or when it was cancelled."""
        if self.cancel and self.cancel.is_set():
            raise CancelledError
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise DeadlineExceededError
        return left

    def slice(self) -> float:
        """Seconds to wait before asking again."""
        return min(SLICE, self.remaining())
