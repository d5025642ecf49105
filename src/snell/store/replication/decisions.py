"""
Replicate decisions and their traces to a shared server, in batches from the local database.

While the server is unreachable nothing is lost, and rows that were sent twice are stored once. Marks belong to one
machine and are not replicated.
"""

import threading

from msgspec import Struct

from snell.model.errors import RefusedRowError, StoreError
from snell.model.protocols import Database, Transaction
from snell.records import decisions, marks
from snell.records.decisions import Row, Trace

ENOUGH = 50  # rows that are sent at once
EVERY = 2.0  # seconds after which fewer rows are sent
LONGEST_WAIT = 15.0  # seconds before the next attempt to reach a server
ROWS, TRACES = 500, 50  # in one transaction
SCOPE, SERVER = "spool", "server"  # the mark with the position of the server


class ReplicationPosition(Struct, frozen=True):
    """The last `seq` of each table that the server has."""

    decisions: int = 0
    traces: int = 0


class Batch(Struct, frozen=True):
    rows: tuple[Row, ...] = ()
    traces: tuple[Trace, ...] = ()

    def after(self, sent: ReplicationPosition) -> ReplicationPosition:
        return ReplicationPosition(
            decisions=self.rows[-1].seq if self.rows else sent.decisions,
            traces=self.traces[-1].seq if self.traces else sent.traces,
        )

    def put(self, tx: Transaction) -> None:
        for first in range(0, len(self.rows), 100):
            decisions.add_many(tx, self.rows[first : first + 100])
        decisions.put_traces(tx, self.traces)

    def parts(self) -> list["Batch"]:
        return [Batch(rows=(row,)) for row in self.rows] + [Batch(traces=(trace,)) for trace in self.traces]


def position(tx: Transaction, name: str = SERVER) -> ReplicationPosition:
    """Return the last rows that a server has."""
    return ReplicationPosition(*(marks.get(tx, SCOPE, name) or ()))


class DecisionReplicator:
    """Send rows of a local database to a server: `start` in a thread, `feed` once in the caller's thread."""

    def __init__(self, local: Database, server: Database, name: str = SERVER) -> None:
        self.problem = ""
        self.refused = 0
        self._local = local
        self._server = server
        self._name = name
        self._written = 0
        self._wake = threading.Event()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def feed(self) -> int:
        """Send all waiting rows and return their number. Raises `StoreError` if the server cannot store them."""
        sent = 0
        while True:
            fed, batch = self._local.run(self._next, only_reads=True)
            if not batch.rows and not batch.traces:
                return sent
            self._deliver(batch)
            self._store_position(batch.after(fed))
            sent += len(batch.rows) + len(batch.traces)

    def position(self) -> ReplicationPosition:
        """Return the last rows that the server has. Retention must keep all later ones."""
        return self._local.run(lambda tx: position(tx, self._name), only_reads=True)

    def count_waiting(self) -> int:
        """Return how many decisions the server does not have yet."""
        last = "SELECT COALESCE(MAX(seq), 0) FROM decisions"
        newest, fed = self._local.run(lambda tx: (tx.rows(last)[0][0], position(tx, self._name)), only_reads=True)
        return max(0, int(newest) - fed.decisions)

    def count_rows(self, rows: int = 1) -> None:
        """Count rows that were written; enough of them wake the thread early."""
        self._written += rows
        if self._written >= ENOUGH:
            self._wake.set()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._keep_feeding, name="snell-spool", daemon=True)
        self._thread.start()

    def stop(self, wait: float = 5.0) -> bool:
        """End the thread and return whether it has ended. Rows that were not sent are sent after the next start."""
        self._ended.set()
        self._wake.set()
        if self._thread:
            self._thread.join(wait)
        return self._thread is None or not self._thread.is_alive()

    def _keep_feeding(self) -> None:
        pause = EVERY
        while not self._ended.is_set():
            if pause == EVERY:
                self._wake.wait(pause)
            else:
                self._ended.wait(pause)  # the server is unreachable, so more rows do not wake the thread
            self._wake.clear()
            self._written = 0
            if not self._ended.is_set():
                pause = self._attempt(pause)

    def _attempt(self, pause: float) -> float:
        try:
            self.feed()
        except StoreError as error:
            self.problem = f"rows wait on this machine: {error}"
            return min(pause * 2, LONGEST_WAIT)
        self.problem = f"{self.refused} rows were refused by the server" if self.refused else ""
        return EVERY

    def _next(self, tx: Transaction) -> tuple[ReplicationPosition, Batch]:
        fed = position(tx, self._name)
        rows = tuple(decisions.rows_after(tx, fed.decisions, ROWS))
        # A trace follows its decision, so traces are sent only with the last rows.
        traces = decisions.traces_after(tx, fed.traces, TRACES) if len(rows) < ROWS else ()
        return fed, Batch(rows, tuple(traces))

    def _store_position(self, sent: ReplicationPosition) -> None:
        self._local.run(lambda tx: marks.put(tx, SCOPE, self._name, [sent.decisions, sent.traces]))

    def _deliver(self, batch: Batch) -> None:
        try:
            self._server.run(batch.put)
        except RefusedRowError:
            # One row that the server refuses must not delay the others.
            for part in batch.parts():
                self._deliver_one(part)

    def _deliver_one(self, part: Batch) -> None:
        try:
            self._server.run(part.put)
        except RefusedRowError:
            self.refused += 1
