"""
The daemon's part in remembering: every half minute, what hooks captured becomes memories.

Where more waits than one look takes in, the next look comes with the daemon's next round, unless it is busy; where
very much does, a process beside the daemon takes it in.
"""

import asyncio
import sys
import time
from typing import TYPE_CHECKING

from snell.model.errors import SnellError
from snell.runtime.app import Runtime

if TYPE_CHECKING:
    from snell.daemon.memory_catch_up import CatchUp

EVERY = 30.0  # seconds


class MemoryTimer:
    def __init__(self, runtime: Runtime, every: float = EVERY) -> None:
        self._runtime = runtime
        self._every = every
        self._next = 0.0
        self._is_first = True
        self._has_more = False  # to take in or to read
        self.is_behind = False  # captures wait, and each look takes some in: a daemon stays until it is done
        self.problems: list[str] = []
        self._catch_up: CatchUp | None = None

    async def look(self, *, is_busy: bool = False) -> None:
        """If it is time and there is an inbox or something to catch up with; in a thread, since it waits for disks."""
        where = self._runtime.where
        is_time = time.monotonic() >= self._next
        if where is None or not (is_time or (self._has_more and not is_busy)):
            return
        if not (where.state / "memory").is_dir() and not self._has_to_catch_up():
            return
        if is_time:
            self._next = time.monotonic() + self._every
        await asyncio.to_thread(self._empty, not is_time)

    @property
    def has_more(self) -> bool:
        """Whether the next look need not wait for its time."""
        return self._has_more

    def _has_to_catch_up(self) -> bool:
        """What is remembered by hand passes no inbox. A house that nobody asked yet needs no look."""
        memories = sys.modules.get("snell.memory.service")
        return bool(memories and memories.has_to_catch_up(self._runtime))

    def _empty(self, continues: bool) -> None:
        from snell.memory.service import memories_of  # many houses never remember anything

        try:
            memories = memories_of(self._runtime)
            if not self._is_first and memories.inbox and self._is_left_to_others(memories.inbox.count()):
                self.is_behind, self._has_more, self.problems = True, False, []
                return
            self.problems = memories.maintain(is_first=self._is_first, continues=continues).problems
            self.problems += [self._catch_up.problem] if self._catch_up and self._catch_up.problem else []
            self._is_first = False
            self.is_behind = memories.is_behind
            self._has_more = memories.is_behind or memories.has_more
        except SnellError as error:
            self.is_behind = self._has_more = False
            self.problems = [str(error)]  # the files stay where they are, and it is tried again

    def _is_left_to_others(self, waiting: int) -> bool:
        from snell.daemon.memory_catch_up import CatchUp

        assert self._runtime.where
        self._catch_up = self._catch_up or CatchUp(self._runtime.where, self._runtime.env)
        return self._catch_up.is_running or self._catch_up.start_if_needed(waiting)
