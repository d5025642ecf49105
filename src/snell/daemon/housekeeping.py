"""Schedule the daemon's housekeeping: a second after work, then rarely, so that an idle daemon costs nothing."""

import asyncio
import contextlib
import time

from snell.system.files import stat_or_none

SOON = 1.0  # seconds after work
BETWEEN = 10.0  # seconds between two full rounds while work goes on: one costs as much as several events
LARGE_LOG = 32 * 1024 * 1024  # bytes after which the next round is a full one all the same
ASLEEP = 60.0  # seconds between two short rounds without work, which check whether the daemon should end
AT_LEAST = 600.0  # seconds after which a full round comes without any work: old rows must expire


class RoundTimer:
    """Decides when the next round is due; `log` is the write-ahead log, which changes with every write."""

    def __init__(self, idle: float, log: str) -> None:
        self._soon, self._between, self._asleep = (min(each, idle / 4) for each in (SOON, BETWEEN, ASLEEP))
        self._log = log
        self._seen = _last_write(log)
        self._has_worked = asyncio.Event()
        self._has_worked.set()  # the first request was work too
        self._has_more = self._is_settled = False  # settled: nothing was done since the last full round
        self._last_full = -AT_LEAST
        self._due = 0.0

    def note_work(self) -> None:
        self._has_worked.set()

    async def next_round(self) -> bool:
        """Wait until the next round is due; return True for a full round."""
        if not self._has_more:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._has_worked.wait(), max(0.0, self._due - time.monotonic()))
        if self._has_more or self._has_worked.is_set():
            await asyncio.sleep(self._soon)
        log = _last_write(self._log)
        if self._has_worked.is_set() or self._has_more or log != self._seen:
            self._is_settled = False
        can_wait = not self._has_more and (log is None or log[1] < LARGE_LOG)
        least = AT_LEAST if self._is_settled else self._between if can_wait else 0.0
        self._has_worked.clear()
        now = time.monotonic()
        if now - self._last_full < least:
            return False
        self._last_full, self._is_settled = now, True
        return True

    def end_round(self, *, has_more: bool, due_in: float = ASLEEP) -> None:
        """Note that a round is over; if it `has_more` to do, another one follows soon, else after these seconds."""
        self._seen = _last_write(self._log)
        self._has_more = has_more
        now = time.monotonic()
        asleep = now + min(due_in, self._asleep)
        self._due = asleep if self._is_settled else min(asleep, self._last_full + self._between)


def _last_write(path: str) -> tuple[int, int, int] | None:
    """Return values that change when the file is written. Not ctime: SQLite as root sets the owner at each open."""
    found = stat_or_none(path)
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found else None
