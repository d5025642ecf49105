"""
Replicate work (tasks, efforts, sessions): send local changes to the server and fetch those of other machines.

All reads and writes use the local database; the server is needed now and then. It decides what must be decided once:
which effort has which ordinal, and which of two changes came first.
"""

from collections.abc import Callable

from snell.memory.project_identity import shared_name
from snell.model.errors import RefusedRowError, StoreError
from snell.model.protocols import Database, Transaction
from snell.store.replication import work_rows, work_server
from snell.store.replication.work_rows import WaitingRows
from snell.store.replication.work_server import AcceptResult
from snell.store.replication.work_tables import KINDS, Kind, SharedRow
from snell.work import shared_names
from snell.work.rows import now_ms

STORED_AT_ONCE = 50  # fetched rows in one transaction, since event handlers wait for it
FAILED_SENDS = 3  # attempts without an accepted row, after which the rest waits for the next exchange


class WorkReplicator:
    def __init__(self, local: Database, server: Database, host: str) -> None:
        self.on_remote_change: Callable[[], None] = lambda: None
        self.refused = 0  # rows that the server refuses
        self._local, self._server, self._host = local, server, host
        self._alive_since = 0

    def exchange(self, *, fetches: bool = True) -> bool:
        """Fetch the changes of other machines and send local ones; returns whether any was sent."""
        if fetches:
            self._fetch()
        has_sent, failed = False, 0
        while failed < FAILED_SENDS and (sent := self._send()) is not None:
            has_sent, failed = has_sent or sent, 0 if sent else failed + 1
            self._fetch()  # rows that were not accepted can be merged now
        return has_sent

    def report_live_sessions(self) -> None:
        """Queue the sessions that had a heartbeat since the last call."""
        since, self._alive_since = self._alive_since, now_ms()
        self._local.run(lambda tx: work_rows.queue_live_sessions(tx, since))

    def _fetch(self) -> None:
        team = self._server.run(work_server.team_id)
        self._local.run(lambda tx: self._prepare(tx, team))
        cursors = self._local.run(work_rows.cursors, only_reads=True)
        newest = self._server.run(work_server.newest_revisions)
        if any(newest[name] < at for name, at in cursors.items()):  # the server was restored from a copy
            self._local.run(lambda tx: work_rows.restart_sharing(tx, team))
            cursors = {}
        for kind in KINDS:
            while newest[kind.table] > (at := cursors.get(kind.table, 0)):
                rows = self._server.run(lambda tx, kind=kind, at=at: work_server.changes_after(tx, kind, at))  # type: ignore[misc] # its defaults
                if not rows:
                    break
                cursors[kind.table] = self._store(kind, rows)

    def _prepare(self, tx: Transaction, team: str) -> None:
        work_rows.start_sharing(tx, team)
        shared_names.give_names(tx, shared_name)

    def _store(self, kind: Kind, rows: list[SharedRow]) -> int:
        for first in range(0, len(rows), STORED_AT_ONCE):
            part = rows[first : first + STORED_AT_ONCE]
            self._local.run(lambda tx, part=part: work_rows.store_remote_changes(tx, kind, part, self._host))  # type: ignore[misc] # its default
        last: int = max(row["rev"] for row in rows)
        self._local.run(lambda tx: work_rows.put_cursor(tx, kind, last))
        self.on_remote_change()
        return last

    def _send(self) -> bool | None:
        """Send the next rows; returns None if there are none, else whether the server accepted any."""
        if not self._local.run(work_rows.has_waiting, only_reads=True):
            return None
        waiting = self._local.run(self._named_waiting_rows)
        if not waiting:
            return None
        try:
            answers = self._server.run(lambda tx: self._put(tx, waiting))
        except RefusedRowError:
            return self._send_one_by_one(waiting)
        self._write(waiting, answers)
        return any(answer.revs for answer in answers)

    def _named_waiting_rows(self, tx: Transaction) -> list[WaitingRows]:
        shared_names.give_names(tx, shared_name)
        return work_rows.waiting_rows(tx, self._host)

    def _put(self, tx: Transaction, waiting: list[WaitingRows]) -> list[AcceptResult]:
        tx.rows("SELECT pg_advisory_xact_lock(?)", work_server.LOCK)
        answers = []
        absent: set[str] = set()  # rows that the server does not have yet; rows that refer to them wait
        for each in waiting:
            rows = [row for _, _, row in each.rows if absent.isdisjoint(row[name] for name in each.kind.needs)]
            answer = work_server.accept(tx, each.kind, rows)
            there = {*answer.revs, *(row["uid"] for row in answer.newer)}
            absent |= {row["uid"] for _, _, row in each.rows if row["uid"] not in there and row["rev"] == 0}
            answers.append(answer)
        return answers

    def _write(self, waiting: list[WaitingRows], answers: list[AcceptResult]) -> None:
        def write(tx: Transaction) -> None:
            for each, answer in zip(waiting, answers, strict=True):
                work_rows.mark_accepted(tx, each, answer.revs)
                work_rows.store_remote_changes(tx, each.kind, answer.newer, self._host)

        self._local.run(write)

    def _send_one_by_one(self, waiting: list[WaitingRows]) -> bool:
        """Send each row alone, so that one that the server refuses does not delay the others."""
        for each in waiting:
            for row in each.rows:
                alone = WaitingRows(each.kind, (row,))
                try:
                    answers = self._server.run(lambda tx, alone=alone: self._put(tx, [alone]))  # type: ignore[misc] # its default
                except RefusedRowError:
                    self.refused += 1
                    self._local.run(lambda tx, alone=alone: work_rows.drop_waiting(tx, alone))  # type: ignore[misc] # its default
                else:
                    self._write([alone], answers)
        return True

    def count_waiting(self) -> int:
        """Return how many rows the server does not have yet."""
        count = "SELECT count(*) FROM unshared"
        try:
            return int(self._local.run(lambda tx: tx.rows(count)[0][0], only_reads=True))
        except StoreError:
            return 0
