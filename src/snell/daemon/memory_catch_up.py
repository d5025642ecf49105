"""
Process a long transcript or very many captures in a separate process, so that no event waits for it.

The process ends when all is done, or when the daemon that started it has ended. The rest is done later: a position
advances, and a capture leaves the inbox, only after its content was stored.
"""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from snell.system.orphan_processes import CHILDREN, spare, unspare
from snell.system.paths import Places
from snell.system.run_program import environment

LONG = 4 * 1024 * 1024  # bytes of transcripts that are still to be read
MANY = 500  # waiting captures
ROUND = 1_000, 1.0  # files and seconds between two checks whether the daemon is still running
NICENESS = 10
RETRY_SECONDS = 60.0  # seconds before it is tried again when it failed


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
        unspare(self._process.pid)
        self._process = None
        if code:
            self.problem = f"memory: the catch-up process exited with code {code}; the daemon does its work"
            self._not_before = time.monotonic() + RETRY_SECONDS
        return False

    def start_if_needed(self, waiting: int) -> bool:
        """Start the process if many captures wait or a long part of a transcript is unread; return whether it was."""
        from snell.memory.transcript_capture import bytes_unread

        if time.monotonic() < self._not_before or (waiting < MANY and bytes_unread(self._where.state) < LONG):
            return False
        paths = [path for path in sys.path if path]
        code = f"import sys; sys.path[:] = {paths!r}; from snell.daemon.memory_catch_up import main; main()"
        places = [str(self._where.config), str(self._where.state), str(self._where.run)]
        starting = CHILDREN.begin_span()  # until `spare` is called, it could be taken for an orphan of a hook
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", code, str(os.getpid()), *places],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment(self._env, {}),
                start_new_session=True,
            )
            spare(self._process.pid)
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
    from snell.memory.service import Memories, is_captured
    from snell.runtime.app import database_of
    from snell.store.background_database import BackgroundDatabase

    numpy_with_bits()  # worth loading for so many, if it is installed
    database = BackgroundDatabase(database_of(where))
    memories = Memories(database, where.state / "memory")
    memories.captures = lambda folder: is_captured(where, dict(os.environ), folder)
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
