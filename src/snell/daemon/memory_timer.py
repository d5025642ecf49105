"""
Turn the captures of hooks into memories, every half minute.

If more captures wait than one pass processes, the next pass comes with the daemon's next housekeeping round, unless
the daemon is busy. Very many, or a long transcript, are processed by a separate process, so that no event waits for it.
It ends when all is done, or when the daemon that started it has ended. The rest is done later: a position advances, and
a capture leaves the inbox, only after its content was stored.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from snell.model.errors import SnellError
from snell.runtime.app import Runtime
from snell.system.child_environment import environment
from snell.system.orphan_processes import CHILDREN
from snell.system.paths import Places

if TYPE_CHECKING:
    from snell.memory.inbox import Inbox

EVERY = 30.0  # seconds
LONG = 4 * 1024 * 1024  # bytes of transcripts that are still to be read
MANY = 500  # waiting captures
ROUND = 1_000, 1.0  # files and seconds between two checks whether the daemon is still running
NICENESS = 10
RETRY_SECONDS = 60.0  # seconds before it is tried again when it failed


class MemoryTimer:
    def __init__(self, runtime: Runtime, every: float = EVERY) -> None:
        self._runtime = runtime
        self._every = every
        self._next = self._looked_at = 0.0
        self._is_first = True
        self.has_more = False  # captures to process or transcripts to read: the next pass should come soon
        self.is_behind = False  # captures wait, and each pass processes some: the daemon must not end before
        self.problems: list[str] = []
        self._catch_up: CatchUp | None = None

    async def run_if_due(self, *, is_busy: bool = False) -> None:
        """Process captures in a thread, if it is time and there is an inbox or other work."""
        where = self._runtime.where
        is_time = time.monotonic() >= self._next
        if where is None or not (is_time or (self.has_more and not is_busy)):
            return
        self._looked_at = time.monotonic()
        # Memories stored by hand may need work too; not if the memory service was never used.
        service = sys.modules.get("snell.memory.service")
        if not (where.state / "memory").is_dir() and not (service and service.has_to_catch_up(self._runtime)):
            return
        if is_time:
            self._next = time.monotonic() + self._every
        await asyncio.to_thread(self._process, not is_time)

    def due_in(self, worked_at: float) -> float:
        """Return the seconds until what hooks captured at that time is processed; many if that was done."""
        return 2 * self._every if self._looked_at > worked_at else max(0.0, self._next - time.monotonic())

    def _process(self, continues: bool) -> None:
        from snell.memory.service import memories_of  # many daemons never need it

        try:
            memories = memories_of(self._runtime)
            if not self._is_first and memories.inbox and self._is_delegated(memories.inbox):
                self.is_behind, self.has_more, self.problems = True, False, []
                return
            self.problems = memories.maintain(is_first=self._is_first, continues=continues).problems
            self.problems += [self._catch_up.problem] if self._catch_up and self._catch_up.problem else []
            self._is_first = False
            self.is_behind = memories.is_behind
            self.has_more = memories.is_behind or memories.has_more
        except SnellError as error:
            self.is_behind = self.has_more = False
            self.problems = [str(error)]  # the files stay, and the next pass tries again

    def _is_delegated(self, inbox: "Inbox") -> bool:
        assert self._runtime.where
        self._catch_up = self._catch_up or CatchUp(self._runtime.where, self._runtime.env)
        return self._catch_up.is_running or self._catch_up.start_if_needed(inbox.count(), inbox.root)


class CatchUp:
    """Starts at most one such process for a daemon."""

    def __init__(self, where: Places, env: Mapping[str, str]) -> None:
        self.problem = ""
        self._where = where
        self._env = env
        self._process: subprocess.Popen[bytes] | None = None
        self._not_before = 0.0

    @property
    def is_running(self) -> bool:
        if self._process is None:
            return False
        code = self._process.poll()
        if code is None:
            return True
        CHILDREN.spared.discard(self._process.pid)
        self._process = None
        if code:
            self.problem = f"memory: the catch-up process exited with code {code}; the daemon does its work"
            self._not_before = time.monotonic() + RETRY_SECONDS
        return False

    def start_if_needed(self, waiting: int, inbox: Path) -> bool:
        """Start the process if many captures wait or a long part of a transcript is unread; return whether it was."""
        from snell.memory.transcript_capture import bytes_unread

        if time.monotonic() < self._not_before or (waiting < MANY and bytes_unread(inbox) < LONG):
            return False
        paths = [path for path in sys.path if path]
        code = f"import sys; sys.path[:] = {paths!r}; from snell.daemon.memory_timer import main; main()"
        places = [str(self._where.config), str(self._where.state), str(self._where.run)]
        starting = CHILDREN.begin_span()  # until it is spared, it could be taken for an orphan of a hook
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", code, str(os.getpid()), *places],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment(self._env, {}),
                start_new_session=True,
            )
            CHILDREN.spared.add(self._process.pid)
        except OSError as error:
            self.problem = f"memory: the catch-up process could not be started: {error}"
            self._not_before = time.monotonic() + RETRY_SECONDS
            return False
        finally:
            CHILDREN.end_span(starting)
        self.problem = ""
        return True


def main() -> None:
    """Run the process; its arguments are the daemon's process id and the folders of the runtime."""
    parent, config, state, run = sys.argv[1:]
    with suppress(OSError):
        os.nice(NICENESS)
    catch_up(Places(Path(config), Path(state), Path(run)), int(parent))


def catch_up(where: Places, parent: int) -> None:
    """Process captures and read transcripts in turns, so that few captures wait however long a transcript is."""
    from snell.llm.embeddings.static_vectors import numpy_with_bits
    from snell.memory.service import memories_in
    from snell.runtime.app import database_of
    from snell.store.background_database import BackgroundDatabase

    numpy_with_bits()  # worth loading for so many, if it is installed
    database = BackgroundDatabase(database_of(where))
    memories = memories_in(database, where, dict(os.environ))
    try:
        while os.getppid() == parent:
            drained = memories.drain(*ROUND)
            if drained.left and drained.statuses:
                continue
            memories.read_transcripts()
            if not memories.has_more and not (memories.inbox and memories.inbox.count()):
                return
            if drained.problems:
                sys.exit(1)  # going on would not help; the daemon reports the problem
    finally:
        database.close()
