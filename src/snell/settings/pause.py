"""
Pause all hooks except policy hooks for some minutes.

The file contains the start of the pause, by the wall clock and by CLOCK_BOOTTIME, and its length. It is active only
while both clocks agree: a wall clock that is set, in either direction, can end a pause but cannot extend it.
"""

import contextlib
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.system.files import struct_or_none, write_atomically
from snell.system.paths import Places, make_private

PAUSE_FILE = "pause.json"
LONGEST_MINUTES = 60
LONGEST_WHY = 200
LONGEST_FILE = 16_384

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # continues while the machine sleeps


class Pause(Struct, frozen=True):
    began: float  # seconds since 1970
    steady: float  # seconds since the machine was started
    minutes: float
    why: str = ""

    @property
    def ends(self) -> float:
        return self.began + self.minutes * 60

    def is_on(self) -> bool:
        passed = (time.time() - self.began, steady_clock() - self.steady)
        return 0 < self.minutes <= LONGEST_MINUTES and all(0 <= each < self.minutes * 60 for each in passed)

    def __str__(self) -> str:
        until = time.strftime("%H:%M", time.localtime(self.ends))
        return f"paused by a person until {until}" + (f" ({self.why})" if self.why else "")


def pause_file(places: Places) -> Path:
    return places.state / PAUSE_FILE


def current_pause(places: Places) -> Pause | None:
    """Return the active pause. A file that cannot be read is no pause: hooks run."""
    found = struct_or_none(pause_file(places), Pause, LONGEST_FILE)
    return found if found and found.is_on() else None


def begin_pause(places: Places, minutes: float, why: str = "") -> Pause:
    """Begin a pause now, or change the end of the active one."""
    words = "".join(char if char.isprintable() else " " for char in why).split()
    pause = Pause(time.time(), steady_clock(), min(minutes, LONGEST_MINUTES), " ".join(words)[:LONGEST_WHY])
    make_private(places.state)
    write_atomically(pause_file(places), msgspec.json.encode(pause) + b"\n")
    return pause


def end_pause(places: Places) -> Pause | None:
    """End the pause and return it, if one was active."""
    active = current_pause(places)
    with contextlib.suppress(FileNotFoundError):
        pause_file(places).unlink()
    return active


def steady_clock() -> float:
    return time.clock_gettime(_STEADY)
