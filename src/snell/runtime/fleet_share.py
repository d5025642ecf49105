"""
One fleet over many machines: a thread tells the shared server of this machine's agents and brings back the others'.

It works when something changed here, when the server says that something changed elsewhere (LISTEN/NOTIFY), and often
enough to keep its leases. No answer ever waits for it.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from snell.model.errors import StoreError
from snell.model.ports import Database
from snell.stores.sqlite import SqliteDatabase
from snell.work import sharing
from snell.work.agents import LEASE_MS
from snell.work.rows import Record

EVERY = 2.0  # seconds between two looks at what changed here
RENEW = LEASE_MS / 3_000  # seconds after which leases are renewed although nothing changed


class Server(Database, Protocol):
    def listen(self, channel: str, hear: Callable[[str], None], ended: threading.Event) -> None: ...


def host_name(state: Path) -> str:
    """What this machine is called among the others; two homes on one machine are two."""
    return f"{os.uname().nodename}:{hashlib.blake2b(bytes(state), digest_size=3).hexdigest()}"


class FleetShare:
    def __init__(self, local: SqliteDatabase, server: Server, host: str, every: float = EVERY) -> None:
        self.problem = ""
        self.taken: list[str] = []  # agents of ours that another machine has the lease of
        self._local, self._server, self._host = local, server, host
        self._every = every
        self._told: list[Record] = []
        self._kept: list[Record] = []
        self._since = 0.0
        self._heard = threading.Event()
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def exchange(self, *, hears: bool = True) -> None:
        """Tell what is new here, and bring what is new elsewhere. Raises StoreError."""
        mine = self._local.run(lambda tx: sharing.own(tx, self._host), only_reads=True)
        if mine and (mine != self._told or self._since >= RENEW):
            self._server.run(lambda tx: self._tell(tx, mine))
            self._told, self._since, hears = mine, 0.0, True
        if hears:
            heard = self._server.run(lambda tx: sharing.others(tx, self._host))
            if heard != self._kept:  # whoever answers events should not have to wait for nothing
                self._local.run(lambda tx: sharing.keep(tx, heard, self._host))
                self._kept = heard

    def start(self) -> None:
        listen = (sharing.CHANNEL, self._hear, self._ended)
        self._threads = [
            threading.Thread(target=self._keep_exchanging, name="snell-fleet", daemon=True),
            threading.Thread(target=self._server.listen, args=listen, name="snell-fleet-ear", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self, wait: float = 5.0) -> None:
        self._ended.set()
        self._heard.set()
        for thread in self._threads:
            thread.join(wait)

    def _hear(self, host: str) -> None:
        if host != self._host:
            self._heard.set()

    def _keep_exchanging(self) -> None:
        while not self._ended.is_set():
            was_called = self._heard.wait(self._every)
            self._heard.clear()
            self._since += self._every
            if self._ended.is_set():
                return
            try:
                self.exchange(hears=was_called or self._since >= RENEW)
                self.problem = ""
            except StoreError as error:
                self.problem = f"the fleet is not shared: {error}"

    def _tell(self, tx: Any, mine: list[Record]) -> None:
        self.taken = [row["id"] for row in mine if not sharing.tell(tx, row, self._host)]
        tx.rows("SELECT pg_notify(?, ?)", sharing.CHANNEL, self._host)
