"""Show on a terminal what takes longer than a second: a bar where the amount is known, else the time so far."""

import sys
import time
from threading import Event, Thread
from types import TracebackType

from snell.cli.terminal import has_unicode

QUIET_SECONDS, STEP_SECONDS = 1.0, 0.2
WIDTH = 30  # of the bar


class Progress:
    """A line on stderr while the block runs; nothing where stderr is no terminal or the work is done at once."""

    def __init__(self, what: str, total: int = 0) -> None:
        self.what, self.total, self.done = what, total, 0
        self._start = time.monotonic()
        self._is_over = Event()
        self._is_shown = False
        self._thread = Thread(target=self._draw, daemon=True) if sys.stderr.isatty() else None

    def __enter__(self) -> "Progress":
        if self._thread:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        if self._thread:
            self._thread.join()
        if self._is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def reach(self, done: int, total: int = 0) -> None:
        """Say how much is done; the amount may become known, or change, on the way."""
        self.done, self.total = done, total or self.total

    def _draw(self) -> None:
        wait = QUIET_SECONDS
        while not self._is_over.wait(wait):
            print(f"\r{self.line()}\x1b[K", end="", file=sys.stderr, flush=True)
            wait, self._is_shown = STEP_SECONDS, True

    def line(self) -> str:
        """Return the line as it is now."""
        seconds = f"{time.monotonic() - self._start:.0f} s"
        if not self.total:
            return f"{self.what}{f' {self.done:,}' if self.done else ''}, {seconds}"
        part = min(1.0, self.done / self.total)
        full, empty = ("█", "░") if has_unicode(sys.stderr) else ("#", ".")
        length = round(part * WIDTH)
        return f"{self.what} {full * length}{empty * (WIDTH - length)} {part:4.0%} of {self.total:,}, {seconds}"
