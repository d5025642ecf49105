"""The time of day, for throwing away what is old: only as long as nobody has set the clock."""

import time

LARGEST_DRIFT = 3600.0  # seconds; more is not a clock that is being kept right


class WallClock:
    """Compares the time of day with a clock that nobody can set, and that goes on while the machine sleeps."""

    def __init__(self) -> None:
        self._ahead = _ahead()
        self._jumped = False

    def now(self) -> int | None:
        """Milliseconds since 1970; None once the clock has jumped, since then nobody knows how old anything is."""
        # For good, even if it is set back: in between, things were given dates that mean nothing.
        self._jumped = self._jumped or abs(_ahead() - self._ahead) > LARGEST_DRIFT
        return None if self._jumped else time.time_ns() // 1_000_000


def now_ms() -> int:
    """Milliseconds since 1970, for people to read; never for order."""
    return time.time_ns() // 1_000_000


def _ahead() -> float:
    steady = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.time() - time.clock_gettime(steady)
