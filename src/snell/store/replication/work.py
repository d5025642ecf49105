"""
Work (tasks, efforts, sessions) and agents on a shared server: local changes are sent, those of other machines fetched.

The server decides what must be decided once: which effort has which ordinal, which of two changes came first, and
which machine holds the lease of an agent. A machine exchanges when something changed here, when the server reports a
change of another machine (LISTEN/NOTIFY), and often enough to renew its leases.
"""

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from snell.memory.project_identity import shared_name
from snell.model.errors import StoreError
from snell.model.protocols import Database, Transaction
from snell.store.replication import agent_rows, work_rows, work_server
from snell.store.replication.replicator import Link, Server
from snell.store.replication.work_rows import WaitingRows
from snell.store.replication.work_server import AcceptResult
from snell.store.replication.work_tables import KINDS, Kind, SharedRow
from snell.work import shared_names
from snell.work.agents import LEASE_MS
from snell.work.rows import Record, now_ms

RENEW = LEASE_MS / 3_000  # seconds after which leases are renewed although nothing changed
STORED_AT_ONCE = 50  # fetched rows in one transaction, since event handlers wait for it
FAILED_SENDS = 3  # attempts without an accepted row, after which the rest waits for the next exchange


def host_name(state: Path) -> str:
    """Return the name of this machine among the others; two state directories on one machine count as two."""
    return f"{os.uname().nodename}:{hashlib.blake2b(bytes(state), digest_size=3).hexdigest()}"


class WorkBatch(Struct, frozen=True):
    host: str
    waiting: tuple[WaitingRows, ...]

    def put(self, tx: Transaction) -> list[AcceptResult]:
        tx.rows("SELECT pg_advisory_xact_lock(?)", work_server.LOCK)
        answers = []
        absent: set[str] = set()  # rows that the server does not have yet; rows that refer to them wait
        for each in self.waiting:
            rows = [row for _, _, row in each.rows if absent.isdisjoint(row[name] for name in each.kind.needs)]
            answer = work_server.accept(tx, each.kind, rows)
            there = {*answer.revs, *(row["uid"] for row in answer.newer)}
            absent |= {row["uid"] for _, _, row in each.rows if row["uid"] not in there and row["rev"] == 0}
            answers.append(answer)
        return answers

    def settle(self, tx: Transaction, answer: list[AcceptResult]) -> bool:
        for each, accepted in zip(self.waiting, answer, strict=True):
            work_rows.mark_accepted(tx, each, accepted.revs)
            work_rows.store_remote_changes(tx, each.kind, accepted.newer, self.host)
        return any(accepted.revs for accepted in answer)

    def drop(self, tx: Transaction) -> None:
        work_rows.drop_waiting(tx, self.waiting[0])

    def parts(self) -> list["WorkBatch"]:
        return [WorkBatch(self.host, (WaitingRows(each.kind, (row,)),)) for each in self.waiting for row in each.rows]


class SharedWork:
    name, waiting_text = "snell-fleet", "work and agents are not shared"
    every, longest_wait, enough = 2.0, 15.0, 1
    channel = agent_rows.CHANNEL

    def __init__(self, local: Database, server: Server, host: str) -> None:
        self.host = host
        self.link = Link(local, server)
        self.on_remote_change: Callable[[], None] = lambda: None
        self.leased_elsewhere: list[str] = []  # local agents whose lease another machine holds
        self._sent: list[Record] = []
        self._stored: list[Record] = []
        self._renewed = float("-inf")
        self._alive_since = 0

    def exchange(self, *, fetches: bool = True) -> int:
        local, server = self.link.local, self.link.server
        is_due = time.monotonic() - self._renewed >= RENEW
        fetches = fetches or is_due
        if is_due:
            since, self._alive_since = self._alive_since, now_ms()
            local.run(lambda tx: work_rows.queue_live_sessions(tx, since))
        has_sent = self._exchange_rows(fetches=fetches)
        mine = local.run(lambda tx: agent_rows.own_agents(tx, self.host), only_reads=True)
        if mine and (mine != self._sent or is_due):
            server.run(lambda tx: self._publish(tx, mine))
            self._sent, has_sent, fetches = mine, True, True
        if is_due:
            self._renewed = time.monotonic()
        if has_sent:
            server.run(self._notify)
        if fetches:
            others = server.run(lambda tx: agent_rows.other_agents(tx, self.host))
            if others != self._stored:  # a write would make event handlers wait for nothing
                local.run(lambda tx: agent_rows.store_other_agents(tx, others, self.host))
                self._stored = others
        return int(has_sent)

    def leave(self) -> None:
        """Send what is left and end the leases, so that agents can continue elsewhere."""
        self.exchange(fetches=False)

        def release(tx: Transaction) -> None:
            agent_rows.release_agents(tx, self.host)
            self._notify(tx)

        self.link.server.run(release)

    def count_waiting(self) -> int:
        """Return how many rows the server does not have yet."""
        count = "SELECT count(*) FROM unshared"
        try:
            return int(self.link.local.run(lambda tx: tx.rows(count)[0][0], only_reads=True))
        except StoreError:
            return 0

    def _exchange_rows(self, *, fetches: bool) -> bool:
        """Fetch the changes of other machines and send local ones; returns whether any was sent."""
        if fetches:
            self._fetch()
        has_sent, failed = False, 0
        while failed < FAILED_SENDS and (batch := self._next_batch()):
            sent = self.link.send(batch)
            has_sent, failed = has_sent or sent, 0 if sent else failed + 1
            self._fetch()  # rows that were not accepted can be merged now
        return has_sent

    def _next_batch(self) -> WorkBatch | None:
        if not self.link.local.run(lambda tx: tx.rows("SELECT 1 FROM unshared LIMIT 1"), only_reads=True):
            return None

        def name_and_read(tx: Transaction) -> list[WaitingRows]:
            shared_names.give_names(tx, shared_name)
            return work_rows.waiting_rows(tx, self.host)

        waiting = self.link.local.run(name_and_read)
        return WorkBatch(self.host, tuple(waiting)) if waiting else None

    def _fetch(self) -> None:
        local, server = self.link.local, self.link.server
        team = server.run(work_server.team_id)
        local.run(lambda tx: work_rows.start_sharing(tx, team))
        local.run(lambda tx: shared_names.give_names(tx, shared_name))
        cursors = local.run(work_rows.cursors, only_reads=True)
        newest = server.run(work_server.newest_revisions)
        if any(newest[name] < at for name, at in cursors.items()):  # the server was restored from a copy
            local.run(lambda tx: work_rows.restart_sharing(tx, team))
            cursors = {}
        for kind in KINDS:
            while newest[kind.table] > (at := cursors.get(kind.table, 0)):
                rows = server.run(lambda tx, kind=kind, at=at: work_server.changes_after(tx, kind, at))  # type: ignore[misc] # its defaults
                if not rows:
                    break
                cursors[kind.table] = self._store(kind, rows)

    def _store(self, kind: Kind, rows: list[SharedRow]) -> int:
        local = self.link.local
        for first in range(0, len(rows), STORED_AT_ONCE):
            part = rows[first : first + STORED_AT_ONCE]
            local.run(lambda tx, part=part: work_rows.store_remote_changes(tx, kind, part, self.host))  # type: ignore[misc] # its default
        last: int = max(row["rev"] for row in rows)
        local.run(lambda tx: work_rows.put_cursor(tx, kind, last))
        self.on_remote_change()
        return last

    def _publish(self, tx: Transaction, mine: list[Record]) -> None:
        self.leased_elsewhere = [row["id"] for row in mine if not agent_rows.publish_agent(tx, row, self.host)]

    def _notify(self, tx: Transaction) -> None:
        tx.rows("SELECT pg_notify(?, ?)", self.channel, self.host)
