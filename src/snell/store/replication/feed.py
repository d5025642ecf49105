"""
Start and stop the daemon's replication to a shared server.

Events are answered from the local database alone; threads send its rows to the server over connections of their own, so
no reply waits for a network.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from snell.memory import shared_rows
from snell.model.errors import StoreError
from snell.model.protocols import Database, T, Transaction
from snell.store import display_address, open_database
from snell.store.replication.decisions import Decisions, ReplicationPosition, position
from snell.store.replication.memories import SharedMemories
from snell.store.replication.replicator import Kind, Replicator
from snell.store.replication.work import SharedWork, host_name

STOP_SECONDS = 5.0  # how long an ending daemon waits for the threads


class ReplicationFeed:
    """Sends rows to the server at `address`; `open_local` opens the local database, and `state` has the host's name."""

    def __init__(
        self, open_local: Callable[[], Database], state: Path, address: str, *, shares_memories: bool = False
    ) -> None:
        self._shown = display_address(address)
        self._local = open_local()

        def link() -> tuple[Database, "_ServerOnFirstUse"]:
            """Return connections of their own for one kind: each waits for the network alone."""
            return open_local(), _ServerOnFirstUse(address)

        host = host_name(state)
        self._decisions = Decisions(*link(), host)
        self._work = SharedWork(*link(), host)
        self.memories = SharedMemories(*link()) if shares_memories else None
        kinds: tuple[Kind | None, ...] = (self._decisions, self._work, self.memories)
        self._replicators = [Replicator(kind) for kind in kinds if kind]
        self.rows, self.team = self._replicators[:2]  # of decisions, and of work

    def start(self) -> None:
        if not self.memories:
            self._local.run(lambda tx: shared_rows.set_sharing(tx, is_shared=False))
        for each in self._replicators:
            each.start()

    def position(self, tx: Transaction) -> ReplicationPosition:
        """Return the last rows that the server has; later ones must not be deleted yet."""
        return position(tx)

    def on_remote_change(self, call: Callable[[], None]) -> None:
        """Set the function that is called, in another thread, when changes of other machines arrived."""
        self._work.on_remote_change = call

    def stop(self) -> None:
        """
        End the threads. Rows that the server does not have yet stay in the local database for the next start.

        A thread that waits for a server which does not answer ends with the process, and so do its connections.
        """
        for each in self._replicators:
            each.stop(0)  # all of them end at the same time
        deadline = time.monotonic() + STOP_SECONDS
        for each in self._replicators:
            if each.stop(max(0.0, deadline - time.monotonic())):
                each.close()
        self._local.close()

    def status(self) -> dict[str, Any]:
        try:
            count = self._decisions.count_waiting()
        except StoreError as error:
            return {"address": self._shown, "waiting": None, "problem": str(error)}
        problem = "; ".join(filter(None, (each.status() for each in self._replicators)))
        counts = {"waiting": count.decisions, "traces": count.traces, "calls": count.calls}
        return {"address": self._shown, **counts, "work": self._work.count_waiting(), "problem": problem}


class _ServerOnFirstUse(Database):
    """Import the driver on first use: it is slow to import and may be missing, and a daemon must start anyway."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._database: Any = None

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        result: T = self._open().run(work, only_reads=only_reads)
        return result

    def _open(self) -> Any:
        if self._database is None:
            self._database = open_database(self._address)
        return self._database

    def listen(self, channel: str, receive: Callable[[str], None], ended: threading.Event) -> None:
        self._open().listen(channel, receive, ended)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
