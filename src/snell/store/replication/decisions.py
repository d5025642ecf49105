"""
Decisions, their traces and the ledger's tool calls for a shared server: local rows in order, from a stored position on.

Rows that were sent twice are stored once. Marks belong to one machine and are not replicated, and neither are the
inputs and outputs of tool calls.
"""

from msgspec import Struct

from snell.model.protocols import Database, Transaction
from snell.records import decisions, ledger, marks
from snell.records.decisions import Row, Trace
from snell.records.ledger import Call
from snell.store.replication.replicator import Link, Server

ROWS, TRACES, CALLS = 500, 50, 100  # in one transaction
AT_ONCE = 100  # rows in one statement
SCOPE, SERVER = "spool", "server"  # the mark with the position of the server


class ReplicationPosition(Struct, frozen=True):
    """The last number of each table that the server has. Retention must keep all later rows."""

    decisions: int = 0
    traces: int = 0
    calls: int = 0


def position(tx: Transaction) -> ReplicationPosition:
    """Return the last rows that the server has."""
    return ReplicationPosition(*(marks.get(tx, SCOPE, SERVER) or ()))


class DecisionBatch(Struct, frozen=True):
    since: ReplicationPosition
    host: str = ""
    rows: tuple[Row, ...] = ()
    traces: tuple[Trace, ...] = ()
    calls: tuple[Call, ...] = ()

    @property
    def reached(self) -> ReplicationPosition:
        return ReplicationPosition(
            decisions=self.rows[-1].seq if self.rows else self.since.decisions,
            traces=self.traces[-1].seq if self.traces else self.since.traces,
            calls=self.calls[-1].revision if self.calls else self.since.calls,
        )

    @property
    def size(self) -> int:
        return len(self.rows) + len(self.traces) + len(self.calls)

    def put(self, tx: Transaction) -> None:
        if tx.dialect == "postgres":
            tx.rows("SELECT set_config('snell.host', ?, true)", self.host)  # the default of the column `host`
        for first in range(0, len(self.rows), AT_ONCE):
            decisions.add_many(tx, self.rows[first : first + AT_ONCE])
        decisions.put_traces(tx, self.traces)
        for call in self.calls:
            ledger.put_copy(tx, call)

    def settle(self, tx: Transaction, answer: None) -> bool:
        self.drop(tx)
        return True

    def drop(self, tx: Transaction) -> None:
        reached = self.reached
        marks.put(tx, SCOPE, SERVER, [reached.decisions, reached.traces, reached.calls])

    def parts(self) -> list["DecisionBatch"]:
        found: list[DecisionBatch] = []
        for name in ("rows", "traces", "calls"):
            for each in getattr(self, name):
                since = found[-1].reached if found else self.since
                found.append(DecisionBatch(since, self.host, **{name: (each,)}))
        return found


class Decisions:
    name, waiting_text = "snell-spool", "rows wait on this machine"
    every, longest_wait, enough = 2.0, 15.0, 50
    channel = ""

    def __init__(self, local: Database, server: Server, host: str = "") -> None:
        self.link, self.host = Link(local, server), host

    def exchange(self, *, fetches: bool = True) -> int:
        """Send all waiting rows and return their number."""
        sent = 0
        while (batch := self.link.local.run(self._next_batch, only_reads=True)).size:
            self.link.send(batch)
            sent += batch.size
        return sent

    def leave(self) -> None:
        """Do nothing: rows that were not sent wait in the local database."""

    def count_waiting(self) -> ReplicationPosition:
        """Return how many rows of each table the server does not have yet."""
        return self.link.local.run(_count_waiting, only_reads=True)

    def _next_batch(self, tx: Transaction) -> DecisionBatch:
        fed = position(tx)
        rows = tuple(decisions.rows_after(tx, fed.decisions, ROWS))
        if len(rows) == ROWS:  # traces and calls follow their decisions, so they are sent with the last rows only
            return DecisionBatch(fed, self.host, rows)
        traces, calls = decisions.traces_after(tx, fed.traces, TRACES), ledger.calls_after(tx, fed.calls, CALLS)
        return DecisionBatch(fed, self.host, rows, tuple(traces), tuple(calls))


def _count_waiting(tx: Transaction) -> ReplicationPosition:
    fed = position(tx)
    tables = (("decisions", "seq", fed.decisions), ("traces", "seq", fed.traces), ("tool_calls", "revision", fed.calls))
    numbers = (
        tx.rows(f"SELECT COUNT(*) FROM {table} WHERE {number} > ?", after)[0][0] for table, number, after in tables
    )
    return ReplicationPosition(*map(int, numbers))
