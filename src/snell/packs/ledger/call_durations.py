"""How long calls take by a clock that nobody sets, for as long as this process lives."""

import time

KEPT = 4_096
LARGEST_DRIFT_MS = 60_000  # between two clocks that are both right
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_began: dict[str, int] = {}  # the oldest first


def start(call_id: str) -> None:
    _began[call_id] = _now()
    if len(_began) > KEPT:
        del _began[next(iter(_began))]


def corrected_duration(call_id: str, by_the_time_of_day: int) -> int | None:
    """Milliseconds, where the time of day was set meanwhile; None where it is as good, or all there is."""
    began = _began.pop(call_id, None)
    if began is None:
        return None
    took = _now() - began
    return took if abs(took - by_the_time_of_day) > LARGEST_DRIFT_MS else None


def _now() -> int:
    return time.clock_gettime_ns(_CLOCK) // 1_000_000
