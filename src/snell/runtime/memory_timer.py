"""The daemon's part in remembering: every half minute, what hooks captured becomes memories."""

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
        self.problems: list[str] = []

    async def look(self) -> None:
        """If it is time and there is an inbox, or a model to catch up; in a thread, since it waits for the disk."""
        where = self._house.where
        if time.monotonic() < self._next or where is None:
            return
        if not (where.state / "memory").is_dir() and not self._has_model():
            return
        self._next = time.monotonic() + self._every
        await asyncio.to_thread(self._empty)

    def _has_model(self) -> bool:
        """What is remembered by hand passes no inbox. A house that nobody asked yet needs no look."""
        memories = sys.modules.get("snell.runtime.memories")
        return bool(memories and memories.has_model(self._house))

    def _empty(self) -> None:
        from snell.runtime.memories import memories_of  # many houses never remember anything

        try:
            memories = memories_of(self._house)
            self.problems = memories.look_after(is_first=self._is_first).problems
            self._is_first = False
            if memories.has_more:
                self._next = 0.0  # the next look goes on with it
        except SnellError as error:
            self.problems = [str(error)]  # the files stay where they are, and it is tried again
