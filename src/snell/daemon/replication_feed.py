"""
The daemon's part of a shared server. Events are answered from the local database alone; a thread feeds the server
from there, over a connection of its own, so that no answer ever waits for a network.
"""

import threading
from collections.abc import Callable
from typing import Any

from snell.memory import shared_rows
from snell.model.errors import StoreError
from snell.model.protocols import T, Transaction
from snell.runtime.app import database_of
from snell.store.replication.agents import AgentReplicator, host_name
from snell.store.replication.decisions import DecisionReplicator
from snell.store.replication.memories import MemoryReplicator
from snell.system.paths import Places
from snell.system.server_address import shown_address


class ReplicationFeed:
    def __init__(self, where: Places, address: str, *, shares_memories: bool = False) -> None:
        self._shown = shown_address(address)
        self._local = database_of(where)
        self._server = _ServerOnFirstUse(address)
        self._spool = DecisionReplicator(self._local, self._server)
        # The fleet's threads wait for the network, too; each has connections of its own.
        self._fleet_local, self._fleet_server = database_of(where), _ServerOnFirstUse(address)
        self._fleet = AgentReplicator(self._fleet_local, self._fleet_server, host_name(where.state))
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
            self._local.run(lambda tx: shared_rows.switch(tx, is_shared=False))

    @property
    def has_met(self) -> bool:
        return self._fleet.has_met

    def catch_up(self, seconds: float) -> bool:
        return self._fleet.catch_up(seconds)

    def sync_soon(self) -> None:
        self._fleet.sync_soon()

    def on_hearing(self, call: Callable[[], None]) -> None:
        """Whom to call, from another thread, when something came from other machines."""
        self._fleet.work.heard_something = call

    def written(self) -> None:
        self._spool.written()

    def stop(self) -> None:
        """
        What the server does not have yet waits in the local database for the next start.

        A thread that still waits for a server which does not answer ends with the process, and so do its connections.
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
            waiting = self._spool.waiting()
        except StoreError as error:
            return {"address": self._shown, "waiting": None, "problem": str(error)}
        memories = self.memories.problem if self.memories else ""
        problem = "; ".join(filter(None, (self._spool.problem, self._fleet.problem, memories)))
        return {"address": self._shown, "waiting": waiting, "work": self._fleet.work.waits(), "problem": problem}


class _ServerOnFirstUse:
    """The driver takes a while to load, and may not be there at all; neither is a matter for the start of a daemon."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._database: Any = None

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        result: T = self._opened().run(work, only_reads=only_reads)
        return result

    def _opened(self) -> Any:
        if self._database is None:
            from snell.store.postgres import PostgresDatabase

            self._database = PostgresDatabase(self._address)
        return self._database

    def listen(self, channel: str, hear: Callable[[str], None], ended: threading.Event) -> None:
        self._opened().listen(channel, hear, ended)

    def do(self, sql: str, *values: Any) -> int:
        return self.run(lambda tx: tx.do(sql, *values))

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
