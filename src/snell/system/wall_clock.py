"""The time of day, and whether it can be trusted to tell how old something is."""

import time

LARGEST_DRIFT = 3600.0  # seconds; a clock that is synchronised drifts less


class WallClock:
    """Compares the time of day with CLOCK_BOOTTIME, to notice when the clock was set."""

    def __init__(self) -> None:
        self._offset = _offset()
        self._jumped = False

    def now(self) -> int | None:
        """Return milliseconds since 1970; None once the clock has jumped, since ages are unknown from then on."""
        # For good, even if it is set back: rows written in between have wrong times.
        self._jumped = self._jumped or abs(_offset() - self._offset) > LARGEST_DRIFT
        return None if self._jumped else time.time_ns() // 1_000_000


def now_ms() -> int:
    """Return milliseconds since 1970, for display; never for ordering."""
    return time.time_ns() // 1_000_000


def _offset() -> float:
    steady = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.time() - time.clock_gettime(steady)
