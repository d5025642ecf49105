"""Memories of a team: a thread that takes what is remembered here to the shared server, and brings what others know."""

import threading

from snell.memory import shared_rows
from snell.memory.service import Memories
from snell.model.errors import SnellError, StoreError
from snell.model.protocols import Database, Transaction

EVERY = 10.0  # seconds
LONGEST_WAIT = 120.0  # before the next attempt to reach a server that is away


class MemoryReplicator:
    def __init__(self, local: Database, server: Database, every: float = EVERY) -> None:
        self.problem = ""
        self._local, self._server = local, server
        self._memories = Memories(local)
        self._every = every
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def exchange(self) -> int:
        """Once there and back; returns how many memories came or went. Raises StoreError."""
        self._local.run(lambda tx: shared_rows.switch(tx, is_shared=True))
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
        """What has not gone by then goes after the next start. Returns whether the thread has ended."""
        self._ended.set()
        if self._thread:
            self._thread.join(wait)
        return self._thread is None or not self._thread.is_alive()

    def _send(self) -> int:
        """INVARIANT: the position moves on after the server has kept it, so a crash in between sends twice."""
        gone = self._local.run(shared_rows.list_forgotten, only_reads=True)
        memories, reached = self._local.run(shared_rows.unsent, only_reads=True)
        if not gone and not memories:
            return 0
        self._server.run(lambda tx: shared_rows.take_in(tx, memories, gone))

        def note(tx: Transaction) -> None:
            if memories:
                shared_rows.mark_sent(tx, reached)
            if gone:
                shared_rows.mark_forgotten_sent(tx, gone[-1].seq)

        self._local.run(note)
        return len(memories) + len(gone)

    def _fetch(self, project: str) -> int:
        positions = self._local.run(lambda tx: shared_rows.positions(tx, project), only_reads=True)
        news = self._server.run(lambda tx: shared_rows.news(tx, project, *positions), only_reads=True)
        if not news.forgotten and news.known == positions[0]:
            return 0
        # A colleague's machine may be older or less careful than ours, so what comes is looked at like everything else.
        return self._memories.run(lambda tx: shared_rows.bring_in(tx, project, news, self._memories.redact_draft))

    def _keep_exchanging(self) -> None:
        pause = 0.0
        while not self._ended.wait(pause):
            try:
                self.exchange()
                self.problem, pause = "", self._every
            except StoreError as error:
                self.problem, pause = f"memories wait on this machine: {error}", self._later(pause)
            except SnellError as error:  # one that cannot be kept must not end the thread
                self.problem, pause = f"a memory of the team cannot be kept: {error}", self._later(pause)

    def _later(self, pause: float) -> float:
        return min(max(pause, self._every) * 2, LONGEST_WAIT)
