"""
One team over many machines: a thread tells the shared server of this machine's work and agents, and brings back the
others'.

It works when something changed here, when the server says that something changed elsewhere (LISTEN/NOTIFY), and often
enough to keep its leases. No hook's answer ever waits for it; a person who begins an effort waits a moment.
"""

import hashlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from snell.model.errors import StoreError
from snell.model.protocols import Database, Transaction
from snell.store.replication import agent_rows
from snell.store.replication.work import WorkReplicator
from snell.store.sqlite import SqliteDatabase
from snell.work.agents import LEASE_MS
from snell.work.rows import Record

EVERY = 2.0  # seconds between two looks at what changed here
RENEW = LEASE_MS / 3_000  # seconds after which leases are renewed although nothing changed
LONGEST_WAIT = 15.0  # before the next attempt to reach a server that is away


class Server(Database, Protocol):
    def listen(self, channel: str, hear: Callable[[str], None], ended: threading.Event) -> None: ...


def host_name(state: Path) -> str:
    """What this machine is called among the others; two homes on one machine are two."""
    return f"{os.uname().nodename}:{hashlib.blake2b(bytes(state), digest_size=3).hexdigest()}"


class AgentReplicator:
    def __init__(self, local: SqliteDatabase, server: Server, host: str, every: float = EVERY) -> None:
        self.problem = ""
        self.has_met = False
        self.taken: list[str] = []  # agents of ours that another machine has the lease of
        self.work = WorkReplicator(local, server, host)
        self._local, self._server, self._host = local, server, host
        self._every = every
        self._told: list[Record] = []
        self._kept: list[Record] = []
        self._renewed = float("-inf")
        self._must_hear = True
        self._woken = threading.Event()
        self._ended = threading.Event()
        self._asked: list[threading.Event] = []
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def exchange(self, *, hears: bool = True) -> None:
        """Tell what is new here, and bring what is new elsewhere. Raises StoreError."""
        is_due = time.monotonic() - self._renewed >= RENEW
        hears = hears or is_due
        if is_due:
            self.work.look_alive()
        has_told = self.work.exchange(hears=hears)
        mine = self._local.run(lambda tx: agent_rows.own_agents(tx, self._host), only_reads=True)
        if mine and (mine != self._told or is_due):
            self._server.run(lambda tx: self._tell(tx, mine))
            self._told, has_told, hears = mine, True, True
        if is_due:
            self._renewed = time.monotonic()
        if has_told:
            self._server.run(self._notify)
        if hears:
            heard = self._server.run(lambda tx: agent_rows.other_agents(tx, self._host))
            if heard != self._kept:  # whoever answers events should not have to wait for nothing
                self._local.run(lambda tx: agent_rows.store_other_agents(tx, heard, self._host))
                self._kept = heard

    def catch_up(self, seconds: float) -> bool:
        """Wait until everything told and heard is as new as this call; at once when the server is away."""
        if self.problem or not self._threads or self._ended.is_set():
            return False
        done = threading.Event()
        with self._lock:
            self._asked.append(done)
            self._must_hear = True
        self._woken.set()
        return done.wait(seconds) and not self.problem

    def sync_soon(self) -> None:
        """Something changed here that others want to know soon."""
        self._woken.set()

    def start(self) -> None:
        listen = (agent_rows.CHANNEL, self._hear, self._ended)
        self._threads = [
            threading.Thread(target=self._keep_exchanging, name="snell-fleet", daemon=True),
            threading.Thread(target=self._server.listen, args=listen, name="snell-fleet-ear", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self, wait: float = 5.0) -> bool:
        """
        What is not told by then waits here; the leases go, so that an agent may go on elsewhere.

        Returns whether the threads have ended.
        """
        self._ended.set()
        self._woken.set()
        deadline = time.monotonic() + wait
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _hear(self, host: str) -> None:
        if host != self._host:
            self._must_hear = True
            self._woken.set()

    def _keep_exchanging(self) -> None:
        pause = 0.0
        while not self._ended.is_set():
            (self._ended if self.problem else self._woken).wait(pause)  # a server that is away is not to be hurried
            self._woken.clear()
            if not self._ended.is_set():
                self._attempt()
                pause = min(max(pause, self._every) * 2, LONGEST_WAIT) if self.problem else self._every
        if not self.problem:
            self._attempt(leaves=True)

    def _attempt(self, *, leaves: bool = False) -> None:
        with self._lock:
            asked, self._asked, hears = self._asked, [], self._must_hear
            self._must_hear = False
        try:
            self.exchange(hears=hears)
            if leaves:
                self._server.run(self._leave)
            self.problem, self.has_met = "", True
        except StoreError as error:
            self.problem = f"work and agents are not shared: {error}"
            self._must_hear = True
        for each in asked:
            each.set()

    def _leave(self, tx: Transaction) -> None:
        agent_rows.release_agents(tx, self._host)
        self._notify(tx)

    def _notify(self, tx: Transaction) -> None:
        tx.rows("SELECT pg_notify(?, ?)", agent_rows.CHANNEL, self._host)

    def _tell(self, tx: Transaction, mine: list[Record]) -> None:
        self.taken = [row["id"] for row in mine if not agent_rows.publish_agent(tx, row, self._host)]
