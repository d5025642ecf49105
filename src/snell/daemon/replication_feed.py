"""
Start and stop the daemon's replication to a shared server.

Events are answered from the local database alone; threads send its rows to the server over connections of their own, so
no reply waits for a network.
"""

import threading
from collections.abc import Callable
from typing import Any

from snell.memory import shared_rows
from snell.model.errors import StoreError
from snell.model.protocols import Database, T, Transaction
from snell.runtime.app import database_of
from snell.store import display_address, open_database
from snell.store.replication.decisions import DecisionReplicator
from snell.store.replication.memories import MemoryReplicator
from snell.store.replication.work_and_agents import WorkAndAgentReplicator, host_name
from snell.system.paths import Places


class ReplicationFeed:
    def __init__(self, where: Places, address: str, *, shares_memories: bool = False) -> None:
        self._shown = display_address(address)
        self._local = database_of(where)
        self._server = _ServerOnFirstUse(address)
        self._spool = DecisionReplicator(self._local, self._server)
        # Replication of agents waits for the network too, so it has connections of its own.
        self._fleet_local, self._fleet_server = database_of(where), _ServerOnFirstUse(address)
        self._fleet = WorkAndAgentReplicator(self._fleet_local, self._fleet_server, host_name(where.state))
        self.memories: MemoryReplicator | None = None
        if shares_memories:
            self._memory_local, self._memory_server = database_of(where), _ServerOnFirstUse(address)
            self.memories = MemoryReplicator(self._memory_local, self._memory_server)

    def start(self) -> None:
        self._spool.start()
        self._fleet.start()
        if self.memories:
            self.memories.start()
        else:
            self._local.run(lambda tx: shared_rows.set_sharing(tx, is_shared=False))

    @property
    def has_connected(self) -> bool:
        return self._fleet.has_connected

    def catch_up(self, seconds: float) -> bool:
        return self._fleet.catch_up(seconds)

    def notify_change(self) -> None:
        self._fleet.notify_change()

    def on_remote_change(self, call: Callable[[], None]) -> None:
        """Set the function that is called, in another thread, when changes of other machines arrived."""
        self._fleet.work.on_remote_change = call

    def count_row(self) -> None:
        self._spool.count_rows()

    def stop(self) -> None:
        """
        End the threads. Rows that the server does not have yet stay in the local database for the next start.

        A thread that waits for a server which does not answer ends with the process, and so do its connections.
        """
        self._spool.stop(0)  # all of them end at the same time
        if self.memories and self.memories.stop():
            self._memory_server.close()
            self._memory_local.close()
        if self._fleet.stop():
            self._fleet_server.close()
            self._fleet_local.close()
        if self._spool.stop(1.0):
            self._server.close()
            self._local.close()

    def status(self) -> dict[str, Any]:
        try:
            waiting = self._spool.count_waiting()
        except StoreError as error:
            return {"address": self._shown, "waiting": None, "problem": str(error)}
        memories = self.memories.problem if self.memories else ""
        problem = "; ".join(filter(None, (self._spool.problem, self._fleet.problem, memories)))
        return {
            "address": self._shown,
            "waiting": waiting,
            "work": self._fleet.work.count_waiting(),
            "problem": problem,
        }


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
