"""Wait until something has happened. Tests wait with these functions only, never for a fixed time."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
INTERVAL = 0.01  # seconds between two checks


def wait_until(condition: Callable[[], T], seconds: float = 60.0) -> T:
    """Return the first true value of the condition; fail if there is none in time."""
    found = first_true(condition, seconds)
    assert found, f"the condition was not met within {seconds:g} seconds"
    return found


def first_true(condition: Callable[[], T], seconds: float, interval: float = INTERVAL) -> T:
    """Return the first true value of the condition, or its last value when the time is over."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()  # unlike a sleep, a debugger and a signal can interrupt it
    while not (found := condition()) and time.monotonic() < deadline:
        pause.wait(interval)
    return found
