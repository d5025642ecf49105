"""Notice that the running program was removed or replaced by another installation."""

import os
import time
from pathlib import Path

SETTLED = (
    5.0  # seconds; installers remove the old files first, and a start in between would find an incomplete installation
)


class Installed:
    """Compares one file of the program with its state at the start of the process."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._identity = self._current()
        self._noticed: float | None = None

    def is_gone(self) -> bool:
        """Return whether the file was removed or replaced, long enough ago for the installer to have finished."""
        if self._current() == self._identity:
            self._noticed = None
            return False
        self._noticed = self._noticed or time.monotonic()
        return time.monotonic() - self._noticed >= SETTLED

    def _current(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._file)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns
