"""Replicate the memories of a team: a thread sends local memories to the server and fetches those of the others."""

import threading

from snell.memory import shared_rows
from snell.memory.service import Memories
from snell.memory.validation import redact_draft
from snell.model.errors import SnellError, StoreError
from snell.model.protocols import Database, Transaction

EVERY = 10.0  # seconds
LONGEST_WAIT = 120.0  # seconds before the next attempt to reach a server


class MemoryReplicator:
    def __init__(self, local: Database, server: Database, every: float = EVERY) -> None:
        self.problem = ""
        self._local, self._server = local, server
        self._memories = Memories(local)
        self._every = every
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def exchange(self) -> int:
        """Send and fetch once; returns how many memories were sent or fetched. Raises StoreError."""
        self._local.run(lambda tx: shared_rows.set_sharing(tx, is_shared=True))
        moved = 0
        while number := self._send():
            moved += number
        for project in self._local.run(shared_rows.projects, only_reads=True):
            moved += self._fetch(project)
        return moved

    def start(self) -> None:
        self._thread = threading.Thread(target=self._keep_exchanging, name="snell-memories", daemon=True)
        self._thread.start()

    def stop(self, wait: float = 1.0) -> bool:
        """End the thread and return whether it has ended. Memories that were not sent are sent after the next start."""
        self._ended.set()
        if self._thread:
            self._thread.join(wait)
        return self._thread is None or not self._thread.is_alive()

    def _send(self) -> int:
        """INVARIANT: the position is stored after the server has the rows, so a crash in between sends them twice."""
        gone = self._local.run(shared_rows.list_forgotten, only_reads=True)
        memories, reached = self._local.run(shared_rows.unsent, only_reads=True)
        if not gone and not memories:
            return 0
        self._server.run(lambda tx: shared_rows.store_received(tx, memories, gone))

        def note(tx: Transaction) -> None:
            if memories:
                shared_rows.mark_sent(tx, reached)
            if gone:
                shared_rows.mark_forgotten_sent(tx, gone[-1].seq)

        self._local.run(note)
        return len(memories) + len(gone)

    def _fetch(self, project: str) -> int:
        positions = self._local.run(lambda tx: shared_rows.positions(tx, project), only_reads=True)
        changes = self._server.run(lambda tx: shared_rows.changes_since(tx, project, *positions), only_reads=True)
        if not changes.forgotten and changes.known == positions[0]:
            return 0
        # Another machine may have an older Snell, so its memories are redacted again here.
        return self._memories.run(lambda tx: shared_rows.apply_changes(tx, project, changes, redact_draft))

    def _keep_exchanging(self) -> None:
        pause = 0.0
        while not self._ended.wait(pause):
            try:
                self.exchange()
                self.problem, pause = "", self._every
            except StoreError as error:
                self.problem, pause = f"memories wait on this machine: {error}", self._longer_pause(pause)
            except SnellError as error:  # a memory that cannot be stored must not end the thread
                self.problem, pause = f"a memory of the team cannot be stored: {error}", self._longer_pause(pause)

    def _longer_pause(self, pause: float) -> float:
        return min(max(pause, self._every) * 2, LONGEST_WAIT)
