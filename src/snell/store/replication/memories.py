"""Memories of a team on a shared server: local ones are sent, and those of the others are fetched by project."""

from snell.memory import shared_rows
from snell.memory.service import Memories
from snell.memory.validation import redact_draft
from snell.model.protocols import Database, Transaction
from snell.store.replication.replicator import Link, Server


class SharedMemories:
    name, waiting_text = "snell-memories", "memories wait on this machine"
    every, longest_wait, enough = 10.0, 120.0, 0
    channel = host = ""

    def __init__(self, local: Database, server: Server) -> None:
        self.link = Link(local, server)
        self._memories = Memories(local)

    def exchange(self, *, fetches: bool = True) -> int:
        """Send and fetch once; returns how many memories were sent or fetched."""
        local = self.link.local
        local.run(lambda tx: shared_rows.set_sharing(tx, is_shared=True))
        moved = 0
        while number := self._send():
            moved += number
        return moved + sum(self._fetch(project) for project in local.run(shared_rows.projects, only_reads=True))

    def leave(self) -> None:
        """Do nothing: memories that were not sent wait in the local database."""

    def _send(self) -> int:
        """INVARIANT: the position is stored after the server has the rows, so a crash in between sends them twice."""
        gone = self.link.local.run(shared_rows.list_forgotten, only_reads=True)
        memories, reached = self.link.local.run(shared_rows.unsent, only_reads=True)
        if not gone and not memories:
            return 0
        self.link.server.run(lambda tx: shared_rows.store_received(tx, memories, gone))

        def note(tx: Transaction) -> None:
            if memories:
                shared_rows.mark_sent(tx, reached)
            if gone:
                shared_rows.mark_forgotten_sent(tx, gone[-1].seq)

        self.link.local.run(note)
        return len(memories) + len(gone)

    def _fetch(self, project: str) -> int:
        positions = self.link.local.run(lambda tx: shared_rows.positions(tx, project), only_reads=True)
        changes = self.link.server.run(lambda tx: shared_rows.changes_since(tx, project, *positions), only_reads=True)
        if not changes.forgotten and changes.known == positions[0]:
            return 0
        # Another machine may have an older Snell, so its memories are redacted again here.
        return self._memories.run(lambda tx: shared_rows.apply_changes(tx, project, changes, redact_draft))
