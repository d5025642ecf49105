"""Schedule the daemon's housekeeping: a second after work, then rarely, so that an idle daemon costs nothing."""

import asyncio
import contextlib
import time

from snell.system.files import stat_or_none

SOON = 1.0  # seconds after work
RARELY = 10.0  # seconds between the rounds after that
BETWEEN = 5.0  # seconds between two full rounds while work goes on: one costs as much as several events
LARGE_LOG = 32 * 1024 * 1024  # bytes after which the next round is a full one all the same
ROUNDS_AFTER_WORK = 4  # until memories are stored too, every half minute
FULL_ROUNDS = 2  # of these: the audit chain is extended every ten seconds. Short ones check whether it should end
ASLEEP = 60.0  # seconds between two short rounds later
AT_LEAST = 600.0  # seconds after which a full round comes without any work: old rows must expire


class Pace:
    """Decides when the next round is due; `log` is the write-ahead log, which changes with every write."""

    def __init__(self, idle: float, log: str) -> None:
        times = (SOON, RARELY, BETWEEN, ASLEEP)
        self._soon, self._rarely, self._between, self._asleep = (min(each, idle / 4) for each in times)
        self._log = log
        self._seen = self._at_start = _last_write(log)
        self._has_worked = asyncio.Event()
        self._has_worked.set()  # the first request was work too
        self._is_urgent = self._has_more = False
        self._rounds_left = ROUNDS_AFTER_WORK
        self._last_full = -AT_LEAST

    def note_work(self) -> None:
        self._has_worked.set()

    async def next_round(self) -> bool:
        """Wait until the next round is due; return True for a full round."""
        if not self._is_urgent:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._has_worked.wait(), self._rarely if self._rounds_left else self._asleep)
        if self._is_urgent or self._has_worked.is_set():
            await asyncio.sleep(self._soon)
        is_full = self._is_due()
        self._has_worked.clear()
        self._at_start = _last_write(self._log)
        return is_full

    def end_round(self, *, has_more: bool) -> None:
        """Note that a round is over. One that wrote rows, or has more to do, is followed by another one soon."""
        self._seen = _last_write(self._log)
        self._has_more = has_more
        self._is_urgent = has_more or self._seen != self._at_start

    def _is_due(self) -> bool:
        log = _last_write(self._log)
        if self._has_worked.is_set() or self._is_urgent or log != self._seen:
            self._rounds_left = ROUNDS_AFTER_WORK
        is_wanted = ROUNDS_AFTER_WORK - self._rounds_left < FULL_ROUNDS
        can_wait = not self._has_more and (log is None or log[1] < LARGE_LOG)
        least = AT_LEAST if not is_wanted else self._between if can_wait else 0.0
        now = time.monotonic()
        is_full = now - self._last_full >= least
        if is_full or not is_wanted:
            self._rounds_left = max(0, self._rounds_left - 1)
        if is_full:
            self._last_full = now
        return is_full


def _last_write(path: str) -> tuple[int, int, int] | None:
    """Return values that change when the file is written. Not ctime: SQLite as root sets the owner at each open."""
    found = stat_or_none(path)
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found else None
