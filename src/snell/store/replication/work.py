"""
One state of work over many machines: what changed here goes to the shared server, and what others changed comes here.

Everything is read and written on this machine; the server only has to be reached now and then. It decides what can be
decided once only: which effort has which ordinal, and which of two changes came first.
"""

from collections.abc import Callable

from snell.memory.project_identity import shared_name
from snell.model.errors import StoreError
from snell.model.protocols import Database, Transaction
from snell.store.postgres import RefusedRowError
from snell.store.replication import work_rows, work_server
from snell.store.replication.work_rows import Waiting
from snell.store.replication.work_server import Answer
from snell.store.replication.work_tables import KINDS, Kind, Shared
from snell.work import shared_names
from snell.work.rows import now_ms

KEPT_AT_ONCE = 50  # rows of others in one transaction: whoever answers events waits for it
IN_VAIN = 3  # attempts of which the server took nothing; what is left then goes the next time


class WorkReplicator:
    def __init__(self, local: Database, server: Database, host: str) -> None:
        self.heard_something: Callable[[], None] = lambda: None
        self.refused = 0  # rows that the server will not have
        self._local, self._server, self._host = local, server, host
        self._alive_since = 0

    def exchange(self, *, hears: bool = True) -> bool:
        """Bring what is new elsewhere, tell what is new here; returns whether anything was told."""
        if hears:
            self._hear()
        has_told, in_vain = False, 0
        while in_vain < IN_VAIN and (told := self._tell()) is not None:
            has_told, in_vain = has_told or told, 0 if told else in_vain + 1
            self._hear()  # what did not fit can be joined now
        return has_told

    def look_alive(self) -> None:
        """Say which sessions are at work."""
        since, self._alive_since = self._alive_since, now_ms()
        self._local.run(lambda tx: work_rows.look_alive(tx, since))

    def _hear(self) -> None:
        team = self._server.run(work_server.team)
        self._local.run(lambda tx: self._prepare(tx, team))
        cursors = self._local.run(work_rows.cursors, only_reads=True)
        newest = self._server.run(work_server.newest)
        if any(newest[name] < at for name, at in cursors.items()):  # it was restored from a copy, or the like
            self._local.run(lambda tx: work_rows.begin_anew(tx, team))
            cursors = {}
        for kind in KINDS:
            while newest[kind.table] > (at := cursors.get(kind.table, 0)):
                rows = self._server.run(lambda tx, kind=kind, at=at: work_server.changes_after(tx, kind, at))  # type: ignore[misc] # its defaults
                if not rows:
                    break
                cursors[kind.table] = self._keep(kind, rows)

    def _prepare(self, tx: Transaction, team: str) -> None:
        work_rows.begin(tx, team)
        shared_names.give_names(tx, shared_name)

    def _keep(self, kind: Kind, rows: list[Shared]) -> int:
        for first in range(0, len(rows), KEPT_AT_ONCE):
            part = rows[first : first + KEPT_AT_ONCE]
            self._local.run(lambda tx, part=part: work_rows.store_remote_changes(tx, kind, part, self._host))  # type: ignore[misc] # its default
        last: int = max(row["rev"] for row in rows)
        self._local.run(lambda tx: work_rows.put_cursor(tx, kind, last))
        self.heard_something()
        return last

    def _tell(self) -> bool | None:
        """Tell the next rows; None when there are none, else whether the server took any."""
        if not self._local.run(work_rows.anything_waits, only_reads=True):
            return None
        waiting = self._local.run(self._waiting)
        if not waiting:
            return None
        try:
            answers = self._server.run(lambda tx: self._put(tx, waiting))
        except RefusedRowError:
            return self._tell_one_by_one(waiting)
        self._write(waiting, answers)
        return any(answer.revs for answer in answers)

    def _waiting(self, tx: Transaction) -> list[Waiting]:
        shared_names.give_names(tx, shared_name)
        return work_rows.waiting(tx, self._host)

    def _put(self, tx: Transaction, waiting: list[Waiting]) -> list[Answer]:
        tx.rows("SELECT pg_advisory_xact_lock(?)", work_server.LOCK)
        answers = []
        absent: set[str] = set()  # rows that are not there yet; what belongs to them has to wait
        for each in waiting:
            rows = [row for _, _, row in each.rows if absent.isdisjoint(row[name] for name in each.kind.needs)]
            answer = work_server.accept(tx, each.kind, rows)
            there = {*answer.revs, *(row["uid"] for row in answer.newer)}
            absent |= {row["uid"] for _, _, row in each.rows if row["uid"] not in there and row["rev"] == 0}
            answers.append(answer)
        return answers

    def _write(self, waiting: list[Waiting], answers: list[Answer]) -> None:
        def write(tx: Transaction) -> None:
            for each, answer in zip(waiting, answers, strict=True):
                work_rows.mark_accepted(tx, each, answer.revs)
                work_rows.store_remote_changes(tx, each.kind, answer.newer, self._host)

        self._local.run(write)

    def _tell_one_by_one(self, waiting: list[Waiting]) -> bool:
        """One row that the server will never have must not keep the others back."""
        for each in waiting:
            for row in each.rows:
                alone = Waiting(each.kind, (row,))
                try:
                    answers = self._server.run(lambda tx, alone=alone: self._put(tx, [alone]))  # type: ignore[misc] # its default
                except RefusedRowError:
                    self.refused += 1
                    self._local.run(lambda tx, alone=alone: work_rows.give_up(tx, alone))  # type: ignore[misc] # its default
                else:
                    self._write([alone], answers)
        return True

    def waits(self) -> int:
        """How many rows the server does not have yet."""
        count = "SELECT count(*) FROM unshared"
        try:
            return int(self._local.run(lambda tx: tx.rows(count)[0][0], only_reads=True))
        except StoreError:
            return 0
