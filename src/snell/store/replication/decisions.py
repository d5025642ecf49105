"""
Decisions and their traces for a shared server: rows of the local database in order, from a stored position on.

Rows that were sent twice are stored once. Marks belong to one machine and are not replicated.
"""

from msgspec import Struct

from snell.model.protocols import Database, Transaction
from snell.records import decisions, marks
from snell.records.decisions import Row, Trace
from snell.store.replication.replicator import Link, Server

ROWS, TRACES = 500, 50  # in one transaction
AT_ONCE = 100  # rows in one statement
SCOPE, SERVER = "spool", "server"  # the mark with the position of the server


class ReplicationPosition(Struct, frozen=True):
    """The last `seq` of each table that the server has. Retention must keep all later rows."""

    decisions: int = 0
    traces: int = 0


def position(tx: Transaction) -> ReplicationPosition:
    """Return the last rows that the server has."""
    return ReplicationPosition(*(marks.get(tx, SCOPE, SERVER) or ()))


class DecisionBatch(Struct, frozen=True):
    since: ReplicationPosition
    rows: tuple[Row, ...] = ()
    traces: tuple[Trace, ...] = ()

    @property
    def reached(self) -> ReplicationPosition:
        return ReplicationPosition(
            decisions=self.rows[-1].seq if self.rows else self.since.decisions,
            traces=self.traces[-1].seq if self.traces else self.since.traces,
        )

    def put(self, tx: Transaction) -> None:
        for first in range(0, len(self.rows), AT_ONCE):
            decisions.add_many(tx, self.rows[first : first + AT_ONCE])
        decisions.put_traces(tx, self.traces)

    def settle(self, tx: Transaction, answer: None) -> bool:
        self.drop(tx)
        return True

    def drop(self, tx: Transaction) -> None:
        marks.put(tx, SCOPE, SERVER, [self.reached.decisions, self.reached.traces])

    def parts(self) -> list["DecisionBatch"]:
        rows = [DecisionBatch(self.since, (row,)) for row in self.rows]
        since = rows[-1].reached if rows else self.since
        return rows + [DecisionBatch(since, (), (trace,)) for trace in self.traces]


class Decisions:
    name, waiting_text = "snell-spool", "rows wait on this machine"
    every, longest_wait, enough = 2.0, 15.0, 50
    channel = host = ""

    def __init__(self, local: Database, server: Server) -> None:
        self.link = Link(local, server)

    def exchange(self, *, fetches: bool = True) -> int:
        """Send all waiting rows and return their number."""
        sent = 0
        while (batch := self.link.local.run(_next, only_reads=True)).reached != batch.since:
            self.link.send(batch)
            sent += len(batch.rows) + len(batch.traces)
        return sent

    def leave(self) -> None:
        """Nothing to tell: rows that were not sent wait here."""

    def count_waiting(self) -> int:
        """Return how many decisions the server does not have yet."""
        find = self.link.local.run
        newest, fed = find(lambda tx: (decisions.newest_seq(tx), position(tx).decisions), only_reads=True)
        return max(0, newest - fed)


def _next(tx: Transaction) -> DecisionBatch:
    fed = position(tx)
    rows = tuple(decisions.rows_after(tx, fed.decisions, ROWS))
    # A trace follows its decision, so traces are sent only with the last rows.
    traces = decisions.traces_after(tx, fed.traces, TRACES) if len(rows) < ROWS else ()
    return DecisionBatch(fed, rows, tuple(traces))
