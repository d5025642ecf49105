"""Is the program that is running still the one that is installed?"""

import os
import time
from pathlib import Path

SETTLED = 5.0  # seconds; installers remove the old files first, and a new start in between would find half of the new


class Installed:
    """One file of the program, as it was when the process started."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._identity = self._found()
        self._noticed: float | None = None

    def is_gone(self) -> bool:
        """Was it removed or replaced, and has whoever did it had the time to finish?"""
        if self._found() == self._identity:
            self._noticed = None
            return False
        self._noticed = self._noticed or time.monotonic()
        return time.monotonic() - self._noticed >= SETTLED

    def _found(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._file)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns
