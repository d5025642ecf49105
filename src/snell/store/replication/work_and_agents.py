"""
Replicate work and agents: a thread sends the changes of this machine to the server and fetches those of the others.

It runs after a local change, when the server reports a change of another machine (LISTEN/NOTIFY), and often enough to
renew its leases. No reply to a hook waits for it; a user who starts an effort waits a moment.
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
from snell.work.agents import LEASE_MS
from snell.work.rows import Record

EVERY = 2.0  # seconds between two checks for local changes
RENEW = LEASE_MS / 3_000  # seconds after which leases are renewed although nothing changed
LONGEST_WAIT = 15.0  # seconds before the next attempt to reach a server


class Server(Database, Protocol):
    def listen(self, channel: str, receive: Callable[[str], None], ended: threading.Event) -> None: ...


def host_name(state: Path) -> str:
    """Return the name of this machine among the others; two state directories on one machine count as two."""
    return f"{os.uname().nodename}:{hashlib.blake2b(bytes(state), digest_size=3).hexdigest()}"


class WorkAndAgentReplicator:
    def __init__(self, local: Database, server: Server, host: str, every: float = EVERY) -> None:
        self.problem = ""
        self.has_connected = False
        self.leased_elsewhere: list[str] = []  # local agents whose lease another machine holds
        self.work = WorkReplicator(local, server, host)
        self._local, self._server, self._host = local, server, host
        self._every = every
        self._sent: list[Record] = []
        self._stored: list[Record] = []
        self._renewed = float("-inf")
        self._must_fetch = True
        self._wake = threading.Event()
        self._ended = threading.Event()
        self._waiters: list[threading.Event] = []
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def exchange(self, *, fetches: bool = True) -> None:
        """Send local changes and fetch those of other machines. Raises StoreError."""
        is_due = time.monotonic() - self._renewed >= RENEW
        fetches = fetches or is_due
        if is_due:
            self.work.report_live_sessions()
        has_sent = self.work.exchange(fetches=fetches)
        mine = self._local.run(lambda tx: agent_rows.own_agents(tx, self._host), only_reads=True)
        if mine and (mine != self._sent or is_due):
            self._server.run(lambda tx: self._publish(tx, mine))
            self._sent, has_sent, fetches = mine, True, True
        if is_due:
            self._renewed = time.monotonic()
        if has_sent:
            self._server.run(self._notify)
        if fetches:
            others = self._server.run(lambda tx: agent_rows.other_agents(tx, self._host))
            if others != self._stored:  # a write would make event handlers wait for nothing
                self._local.run(lambda tx: agent_rows.store_other_agents(tx, others, self._host))
                self._stored = others

    def catch_up(self, seconds: float) -> bool:
        """Wait until all earlier changes are sent and fetched; returns False at once if the server is unreachable."""
        if self.problem or not self._threads or self._ended.is_set():
            return False
        done = threading.Event()
        with self._lock:
            self._waiters.append(done)
            self._must_fetch = True
        self._wake.set()
        return done.wait(seconds) and not self.problem

    def notify_change(self) -> None:
        """Send a local change soon."""
        self._wake.set()

    def start(self) -> None:
        listen = (agent_rows.CHANNEL, self._receive, self._ended)
        self._threads = [
            threading.Thread(target=self._keep_exchanging, name="snell-fleet", daemon=True),
            threading.Thread(target=self._server.listen, args=listen, name="snell-fleet-listen", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self, wait: float = 5.0) -> bool:
        """
        End the threads and the leases, so that agents can continue elsewhere; returns whether the threads have ended.

        Changes that were not sent stay in the local database.
        """
        self._ended.set()
        self._wake.set()
        deadline = time.monotonic() + wait
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _receive(self, host: str) -> None:
        if host != self._host:
            self._must_fetch = True
            self._wake.set()

    def _keep_exchanging(self) -> None:
        pause = 0.0
        while not self._ended.is_set():
            (self._ended if self.problem else self._wake).wait(pause)  # do not hurry a server that is unreachable
            self._wake.clear()
            if not self._ended.is_set():
                self._attempt()
                pause = min(max(pause, self._every) * 2, LONGEST_WAIT) if self.problem else self._every
        if not self.problem:
            self._attempt(leaves=True)

    def _attempt(self, *, leaves: bool = False) -> None:
        with self._lock:
            waiters, self._waiters, fetches = self._waiters, [], self._must_fetch
            self._must_fetch = False
        try:
            self.exchange(fetches=fetches)
            if leaves:
                self._server.run(self._leave)
            self.problem, self.has_connected = "", True
        except StoreError as error:
            self.problem = f"work and agents are not shared: {error}"
            self._must_fetch = True
        for each in waiters:
            each.set()

    def _leave(self, tx: Transaction) -> None:
        agent_rows.release_agents(tx, self._host)
        self._notify(tx)

    def _notify(self, tx: Transaction) -> None:
        tx.rows("SELECT pg_notify(?, ?)", agent_rows.CHANNEL, self._host)

    def _publish(self, tx: Transaction, mine: list[Record]) -> None:
        self.leased_elsewhere = [row["id"] for row in mine if not agent_rows.publish_agent(tx, row, self._host)]
