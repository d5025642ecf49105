"""
Turn the captures of hooks into memories, every half minute.

If more captures wait than one pass processes, the next pass comes with the daemon's next housekeeping round, unless
the daemon is busy; very many are processed by a separate process.
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
        self._has_more = False  # captures to process or transcripts to read
        self.is_behind = False  # captures wait, and each pass processes some: the daemon must not end before
        self.problems: list[str] = []
        self._catch_up: CatchUp | None = None

    async def run_if_due(self, *, is_busy: bool = False) -> None:
        """Process captures in a thread, if it is time and there is an inbox or other work."""
        where = self._runtime.where
        is_time = time.monotonic() >= self._next
        if where is None or not (is_time or (self._has_more and not is_busy)):
            return
        if not (where.state / "memory").is_dir() and not self._has_to_catch_up():
            return
        if is_time:
            self._next = time.monotonic() + self._every
        await asyncio.to_thread(self._process, not is_time)

    @property
    def has_more(self) -> bool:
        """Return whether the next pass should come soon."""
        return self._has_more

    def _has_to_catch_up(self) -> bool:
        """Return whether memories stored by hand need work; not if the memory service was never used."""
        memories = sys.modules.get("snell.memory.service")
        return bool(memories and memories.has_to_catch_up(self._runtime))

    def _process(self, continues: bool) -> None:
        from snell.memory.service import memories_of  # many daemons never need it

        try:
            memories = memories_of(self._runtime)
            if not self._is_first and memories.inbox and self._is_delegated(memories.inbox.count()):
                self.is_behind, self._has_more, self.problems = True, False, []
                return
            self.problems = memories.maintain(is_first=self._is_first, continues=continues).problems
            self.problems += [self._catch_up.problem] if self._catch_up and self._catch_up.problem else []
            self._is_first = False
            self.is_behind = memories.is_behind
            self._has_more = memories.is_behind or memories.has_more
        except SnellError as error:
            self.is_behind = self._has_more = False
            self.problems = [str(error)]  # the files stay, and the next pass tries again

    def _is_delegated(self, waiting: int) -> bool:
        from snell.daemon.memory_catch_up import CatchUp

        assert self._runtime.where
        self._catch_up = self._catch_up or CatchUp(self._runtime.where, self._runtime.env)
        return self._catch_up.is_running or self._catch_up.start_if_needed(waiting)
