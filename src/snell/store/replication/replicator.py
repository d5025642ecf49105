"""
Replicate rows with a shared server: one loop for every kind of rows (`decisions.py`, `work.py`, `memories.py`).

Rows are read and written in the local database only; a thread exchanges them with the server. While the server cannot
be reached nothing is lost, and nothing waits for it but a user who starts an effort.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from snell.model.errors import RefusedRowError, SnellError
from snell.model.protocols import Database, Transaction


class Server(Database, Protocol):
    def listen(self, channel: str, receive: Callable[[str], None], ended: threading.Event) -> None: ...


class Kind(Protocol):
    """A kind of rows that machines share: how it is exchanged with the server, and how often."""

    name: str  # of its thread
    waiting_text: str  # what the user is told while the server cannot be reached
    every: float  # seconds between two exchanges
    longest_wait: float  # seconds before the next attempt to reach a server
    enough: int  # changed rows after which the exchange does not wait; 0 = any number
    channel: str  # on which other machines report their changes; empty if changes are not fetched at once
    host: str  # the name of this machine on the channel
    link: "Link"

    def exchange(self, *, fetches: bool = True) -> int:
        """Send and fetch once; `fetches`: other machines may have changed something. Raises StoreError."""

    def leave(self) -> None:
        """Tell the server that this machine ends."""


class Batch(Protocol):
    """Rows that are sent together."""

    def put(self, tx: Transaction) -> Any:
        """Store the rows on the server, and return its answer."""

    def settle(self, tx: Transaction, answer: Any) -> bool:
        """Record here that the server has the rows; returns whether it accepted any."""

    def parts(self) -> "Sequence[Batch]":
        """Return each row alone."""

    def drop(self, tx: Transaction) -> None:
        """Stop sending a row that the server refuses."""


class Link:
    """The local database and the server, for one thread."""

    def __init__(self, local: Database, server: Server) -> None:
        self.local, self.server = local, server
        self.refused = 0  # rows that the server refuses

    def send(self, batch: Batch) -> bool:
        """Send rows, and each alone if the server refuses one; returns whether any is settled."""
        try:
            answer = self.server.run(batch.put)
        except RefusedRowError:
            parts = batch.parts()
            if len(parts) > 1:
                settled = [self.send(part) for part in parts]
                return any(settled)
            self.refused += 1
            self.local.run(batch.drop)
            return True
        return self.local.run(lambda tx: batch.settle(tx, answer))


class Replicator:
    """The loop: `start` exchanges in a thread. `problem` says why the last attempt failed."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.problem = ""
        self.has_connected = False
        self._changed = 0
        self._must_fetch = True
        self._waiters: list[threading.Event] = []
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        self._threads = [threading.Thread(target=self._keep_exchanging, name=self.kind.name, daemon=True)]
        if self.kind.channel:
            arguments = (self.kind.channel, self._receive, self._ended)
            listen = self.kind.link.server.listen
            name = f"{self.kind.name}-listen"
            self._threads.append(threading.Thread(target=listen, args=arguments, name=name, daemon=True))
        for thread in self._threads:
            thread.start()

    def stop(self, wait: float = 5.0) -> bool:
        """End the threads; returns whether they have ended. Rows that were not sent are sent after the next start."""
        self._ended.set()
        self._wake.set()
        deadline = time.monotonic() + wait
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """Close both databases, after `stop`."""
        self.kind.link.server.close()
        self.kind.link.local.close()

    def notify_change(self, rows: int = 1) -> None:
        """Send local changes soon, once there are enough."""
        self._changed += rows
        if self._changed >= self.kind.enough:
            self._wake.set()

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

    def status(self) -> str:
        """Return what the user should know; empty if all is well."""
        refused = self.kind.link.refused
        return self.problem or (f"{refused} rows were refused by the server" if refused else "")

    def _receive(self, host: str) -> None:
        if host != self.kind.host:
            self._must_fetch = True
            self._wake.set()

    def _keep_exchanging(self) -> None:
        pause, kind = 0.0, self.kind
        while not self._ended.is_set():
            (self._ended if self.problem else self._wake).wait(pause)  # do not hurry a server that is unreachable
            self._wake.clear()
            self._changed = 0
            if not self._ended.is_set():
                self._attempt()
                pause = min(max(pause, kind.every) * 2, kind.longest_wait) if self.problem else kind.every
        if not self.problem:
            self._attempt(leaves=True)

    def _attempt(self, *, leaves: bool = False) -> None:
        with self._lock:
            waiters, self._waiters, fetches = self._waiters, [], self._must_fetch
            self._must_fetch = False
        try:
            if leaves:
                self.kind.leave()
            else:
                self.kind.exchange(fetches=fetches)
            self.problem, self.has_connected = "", True
        except SnellError as error:  # a row that cannot be stored must not end the thread
            self.problem = f"{self.kind.waiting_text}: {error}"
            self._must_fetch = True
        for each in waiters:
            each.set()
