"""
Read the store and send what is new, until the daemon ends.

The store is the queue: a receiver that is down, slow or refusing delays nothing and takes no memory. What waits for too
long is left out and counted as lost.
"""

import os
import threading
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.model.errors import StoreError
from snell.model.protocols import Database, Transaction
from snell.packs.traces.options import Options
from snell.records import decisions, ledger, marks
from snell.records.decisions import SELF_TEST, Row, Trace
from snell.system.deadline import Deadline
from snell.system.files import struct_or_none, write_atomically
from snell.system.wall_clock import now_ms
from snell.traces.metrics import Metrics
from snell.traces.otlp import NotSentError, Table, send
from snell.traces.spans import Session, SpanBuilder

BATCH = 32  # decisions and calls of one request; the details of a decision may take a megabyte
MOST_WAITING = 20_000  # decisions, and tool calls; older ones are lost
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds between two attempts
LAST_SECONDS = 5.0  # for what is left when the daemon ends
REFUSALS = (400, 413, 415, 422)  # the same request would be refused again
UNSUPPORTED = (404, 405, 501)  # the receiver has no such address
NAME, LARGEST = "traces.json", 4_000_000  # the file with the progress, and its bytes


class Progress(Struct, kw_only=True):
    """How far the exporter is."""

    pid: int = 0  # of the exporter; 0 if it has ended
    at: int = 0  # of the last round, in milliseconds since 1970
    traces: int = -1  # the `seq` of the last trace that was sent; -1: no exporter has run
    calls: int = -1  # the `revision` of the last tool call that was sent
    sent: int = 0  # spans
    lost: int = 0  # spans that the receiver refused, and decisions and calls that waited for too long
    waiting: int = 0  # decisions and tool calls
    error: str = ""  # of the last request; empty if it succeeded
    remark: str = ""
    sessions: dict[str, Session] = {}


def read_progress(state: Path) -> Progress:
    return struct_or_none(state / NAME, Progress, LARGEST) or Progress()


class Batch(Struct):
    """What one request is made of, and where the next one begins."""

    builder: SpanBuilder
    end: tuple[int, int]
    left: int  # decisions and calls after it
    new: list[Row] = []  # decisions that were not sent before
    late: dict[str, int] = {}  # the number of late hooks, by decision


class Exporter:
    def __init__(self, state: Path, options: Options, database: Database, ended: threading.Event) -> None:
        self._state, self._options, self._database, self._ended = state, options, database, ended
        self._progress = read_progress(state)
        self._progress.pid, self._progress.remark = os.getpid(), ""
        self._metrics, self._sends_metrics = Metrics(), options.metrics
        self._late: dict[str, int] = {}  # the number of late hooks that were sent, by decision
        self._wait = 0.0  # before the next attempt; 0 if the last one succeeded

    def run(self) -> None:
        """Send until the daemon ends, and then what is left."""
        while not self._ended.is_set():
            self._ended.wait(self.send_next(Deadline(self._options.timeout, self._ended)))
        self._progress.pid, last = 0, Deadline(LAST_SECONDS)
        while self.send_next(last) == 0.0:
            pass

    def send_next(self, deadline: Deadline) -> float:
        """Send one batch, keep the progress, and return the seconds until the next batch."""
        self._progress.at = now_ms()
        pause = self._send_batch(deadline)
        write_atomically(self._state / NAME, msgspec.json.encode(self._progress), sync=False)
        return pause

    def _send_batch(self, deadline: Deadline) -> float:
        progress = self._progress
        try:
            batch = self._database.run(self._read, only_reads=True)
            self._send(batch, deadline)
        except (StoreError, NotSentError) as error:
            progress.error = str(error)
            self._wait = min(max(self._wait * 2, FIRST_WAIT), LONGEST_WAIT)
            return self._wait
        progress.error, self._wait, progress.waiting = "", 0.0, batch.left
        return 0.0 if batch.left else max(self._options.interval, 0.1)

    def _read(self, tx: Transaction) -> Batch:
        """Return what comes next; what is too old is counted as lost."""
        progress, newest = self._progress, _newest(tx)
        if progress.traces < 0:  # earlier events are not sent, but for the one that has started the daemon
            progress.traces, progress.calls = _newest(tx, progress.at - 60_000)
        known = (min(progress.traces, newest[0]), min(progress.calls, newest[1]))  # a new store begins at 0
        begin = (max(known[0], newest[0] - MOST_WAITING), max(known[1], newest[1] - MOST_WAITING))
        progress.lost += sum(begin) - sum(known)
        progress.traces, progress.calls = begin
        progress.waiting = sum(newest) - sum(begin)
        traces = decisions.traces_after(tx, begin[0], BATCH)
        calls = ledger.calls_after(tx, begin[1], BATCH)
        end = (traces[-1].seq if traces else begin[0], calls[-1].revision if calls else begin[1])
        builder = SpanBuilder(self._options, progress.sessions, marks.get(tx, "traces", "parents") or {})
        batch = Batch(builder, end, left=sum(newest) - sum(end))
        for each in traces:
            self._add(batch, each, decisions.find(tx, each.decision_id))
        for call in calls:
            if call.status in ledger.ENDED:
                row = decisions.find(tx, call.decision_id) if call.decision_id else None
                trace = decisions.trace(tx, row.id) if row else None
                builder.add_call(call, row, _record(trace) if trace else {})
        builder.end_idle_sessions(progress.at)
        return batch

    def _add(self, batch: Batch, trace: Trace, row: Row | None) -> None:
        """Add a decision, or only its late hooks if it was sent."""
        late = msgspec.json.decode(trace.late, type=list[Table])
        if not row or row.event == SELF_TEST:
            return
        if row.id in self._late:
            batch.builder.add_late(row, late, self._late[row.id])
        elif trace.body:
            batch.builder.add_decision(row, _record(trace), late)
            batch.new.append(row)
        if trace.body:  # else it comes after its late hooks, and is then read again
            batch.late[row.id] = len(late)

    def _send(self, batch: Batch, deadline: Deadline) -> None:
        progress, spans = self._progress, batch.builder.spans
        try:
            refused = send("spans", spans, self._options, deadline) if spans else 0
        except NotSentError as error:
            if error.status not in REFUSALS:
                raise
            refused, progress.remark = len(spans), f"{len(spans)} spans were refused: {error}"
        progress.sent += len(spans) - refused
        progress.lost += refused
        progress.sessions, (progress.traces, progress.calls) = batch.builder.sessions, batch.end
        self._late = dict(list({**self._late, **batch.late}.items())[-5_000:])
        for row in batch.new:
            self._metrics.count(row)
        if self._sends_metrics and self._metrics.has_news:
            self._send_metrics(deadline)

    def _send_metrics(self, deadline: Deadline) -> None:
        try:
            send("metrics", self._metrics.messages(), self._options, deadline)
            self._metrics.has_news = False
        except NotSentError as error:  # they are sums, so the next request has them, too
            if error.status in UNSUPPORTED:
                self._sends_metrics, self._progress.remark = False, "the receiver takes no metrics"


def _newest(tx: Transaction, until: int = 1 << 60) -> tuple[int, int]:
    """Return the number of the last trace and that of the last change of a tool call, until a time."""
    traces = "SELECT MAX(traces.seq) FROM traces JOIN decisions ON decisions.id = decision_id WHERE at < ?"
    calls = "SELECT MAX(revision) FROM tool_calls WHERE updated_at < ?"
    return int(tx.rows(traces, until)[0][0] or 0), int(tx.rows(calls, until)[0][0] or 0)


def _record(trace: Trace) -> Table:
    return msgspec.json.decode(trace.body or "{}", type=Table)
