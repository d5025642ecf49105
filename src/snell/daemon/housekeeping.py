"""When the daemon looks after things: a second after work, then rarely, so that an idle daemon costs nothing."""

import asyncio
import contextlib
import os
import time

SOON = 1.0  # seconds after work
RARELY = 10.0  # seconds between two looks of an idle daemon, which only asks whether it should leave
LOOKS_AFTER_WORK = 3  # whole looks after the last work: the audit chain is made longer every ten seconds
AT_LEAST = 600.0  # seconds after which a whole look comes without any work: rows get old all the same


class Pace:
    """`log` is the database's write-ahead log, a file that changes with every write of any process."""

    def __init__(self, idle: float, log: str) -> None:
        self._soon, self._rarely = min(SOON, idle / 4), min(RARELY, idle / 4)
        self._log = log
        self._seen = self._begun = _last_write(log)
        self._worked = asyncio.Event()
        self._worked.set()  # the first answer was work, too
        self._hurries = False
        self._looks_left = LOOKS_AFTER_WORK
        self._whole_at = time.monotonic()

    def note_work(self) -> None:
        self._worked.set()

    async def next_look(self) -> bool:
        """Wait until it is time for a look; True when it should be a whole one."""
        if not self._hurries:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._worked.wait(), self._rarely)
        if self._hurries or self._worked.is_set():
            await asyncio.sleep(self._soon)
        is_whole = self._is_due()
        self._worked.clear()
        self._begun = _last_write(self._log)
        return is_whole

    def end_look(self, *, has_more: bool) -> None:
        """Note that a look is over. One that wrote something, or has more to do, is followed by another one soon."""
        self._seen = _last_write(self._log)
        self._hurries = has_more or self._seen != self._begun

    def _is_due(self) -> bool:
        if self._worked.is_set() or self._hurries or _last_write(self._log) != self._seen:
            self._looks_left = LOOKS_AFTER_WORK
        now = time.monotonic()
        if self._looks_left <= 0 and now - self._whole_at < AT_LEAST:
            return False
        self._looks_left -= 1
        self._whole_at = now
        return True


def _last_write(path: str) -> tuple[int, int, int] | None:
    """What changes when the file is written. Not its ctime: SQLite, run by root, sets the owner at each open."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
