"""
The daemon's part in remembering: every half minute, what hooks captured becomes memories.

Where more waits than one look takes in, the next look comes with the daemon's next round, unless it is busy.
"""

import asyncio
import sys
import time

from snell.model.errors import SnellError
from snell.runtime.house import House

EVERY = 30.0  # seconds


class MemoryTimer:
    def __init__(self, house: House, every: float = EVERY) -> None:
        self._house = house
        self._every = every
        self._next = 0.0
        self._is_first = True
        self._has_more = False  # to take in or to read
        self.is_behind = False  # captures wait, and each look takes some in: a daemon stays until it is done
        self.problems: list[str] = []

    async def look(self, *, is_busy: bool = False) -> None:
        """If it is time and there is an inbox or something to catch up with; in a thread, since it waits for disks."""
        where = self._house.where
        is_time = time.monotonic() >= self._next
        if where is None or not (is_time or (self._has_more and not is_busy)):
            return
        if not (where.state / "memory").is_dir() and not self._has_to_catch_up():
            return
        if is_time:
            self._next = time.monotonic() + self._every
        await asyncio.to_thread(self._empty, not is_time)

    def _has_to_catch_up(self) -> bool:
        """What is remembered by hand passes no inbox. A house that nobody asked yet needs no look."""
        memories = sys.modules.get("snell.runtime.memories")
        return bool(memories and memories.has_to_catch_up(self._house))

    def _empty(self, goes_on: bool) -> None:
        from snell.runtime.memories import memories_of  # many houses never remember anything

        try:
            memories = memories_of(self._house)
            self.problems = memories.look_after(is_first=self._is_first, goes_on=goes_on).problems
            self._is_first = False
            self.is_behind = memories.is_behind
            self._has_more = memories.is_behind or memories.has_more
        except SnellError as error:
            self.is_behind = self._has_more = False
            self.problems = [str(error)]  # the files stay where they are, and it is tried again
