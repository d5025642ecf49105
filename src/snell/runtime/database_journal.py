"""
The journal in the database. `commit` writes one small row before a reply is sent, so that the decision is known
whatever happens next; `record` adds the trace, redacted, afterwards.

For a daemon the row goes to a file first (`pending_rows.py`), which is faster, and to the database with the next trace.
Every reader of the journal first brings in what is pending.

A journal that cannot be written fails no event: it is reported as a problem, and the rows are tried again.
"""

import hashlib
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import msgspec

from snell.model.decision import QUIET, Decision
from snell.model.effects import Verdict
from snell.model.errors import StoreError
from snell.model.protocols import Database, Transaction
from snell.records import decisions, orphaned_calls
from snell.records.decisions import Record, Row
from snell.runtime.pending_rows import FOLDER, PendingRows, pending_files
from snell.runtime.trace_json import NOT_REDACTED, PLAIN_FIELDS, Redactor, TraceEncoder, redact_for_storage

UNSAVED = 10_000  # rows in memory while nothing can be written; more of them wait in the file alone
PENDING = 250  # rows that may wait for a trace to go with


class StoreJournal:
    """`pending` is for a process that keeps running; without it a committed row is in the database at once."""

    def __init__(
        self, database: Database, redactor: Redactor = redact_for_storage, pending: PendingRows | None = None
    ) -> None:
        self.problem = ""
        self._database = database
        self._traces = TraceEncoder(database, redactor)
        self._pending = pending
        path = getattr(database, "path", None)
        self._folder = path.parent / FOLDER if path else None
        self.lost = 0  # rows for which there was no room anywhere
        self._unsaved: list[Row] = []
        self._only_in_file = 0  # how many more rows wait
        self._lock = threading.RLock()  # late hooks finish in threads of their own

    def commit(self, decision: Decision, key: str = "") -> None:
        """Write the small row. When this returns without a `problem`, the row survives the end of this process."""
        row = row_of(decision, key)
        with self._lock:
            # Rows that the database does not take, because the disk is full, wait for as long as there is room.
            may_wait = len(self._unsaved) < PENDING or self.problem
            if self._pending and may_wait and self._pending.append(row):
                if len(self._unsaved) < UNSAVED:
                    self._unsaved.append(row)
                else:
                    self._only_in_file += 1
            else:
                self._write([row])

    def record(self, *records: Record) -> None:
        """Add the traces of decisions, without their secrets. They need not have been committed before."""
        traces = [(str(record["id"]), self._traces.encode(record)) for record in records]

        def add_traces(tx: Transaction) -> None:
            for decision_id, body in traces:
                decisions.add_trace(tx, decision_id, body)

        with self._lock:
            known = {row.id for row in self._unsaved}
            rows = [_row_from(record) for record in records if record["id"] not in known]
            self._write(rows, add_traces)

    def flush(self) -> None:
        """Write everything that waits to the database: for a moment without requests, and for the end."""
        with self._lock:
            if self._unsaved:
                self._write([])
            if self._pending and not self._unsaved:
                self._pending.mark_saved(is_quiet=True)

    def close(self) -> None:
        self.flush()
        if self._pending:
            self._pending.close()

    @property
    def waiting(self) -> int:
        """Return how many committed rows are not in the database yet."""
        return len(self._unsaved) + self._only_in_file

    def take_in(self) -> None:
        """
        Write rows to the database that are pending here or in another process, or that a killed process left.

        Where that fails they stay where they are, and a reader sees the rows that are in the database.
        """
        self.flush()
        if self._folder:
            with suppress(StoreError), pending_files(self._folder) as files:
                rows = [row for file in files for row in file.rows]
                gone = [row for file in files if file.is_orphaned for row in file.rows]
                if rows:
                    self._database.run(lambda tx: _take_in(tx, rows, gone))
                if any(file.is_orphaned for file in files):
                    # Write the calls of decisions that a killed process had written without them.
                    newest = self._database.run(decisions.newest_seq, only_reads=True)
                    while self._database.run(lambda tx: orphaned_calls.catch_up(tx, newest)):
                        pass

    def add_late(self, decision_id: str, run: Record) -> None:
        """Add what a hook did after the reply to the record of its decision."""
        if decision_id:
            clean = self._traces.redact(run) or {"hook": str(run.get("hook", "")), "remarks": [NOT_REDACTED]}
            self._write([], lambda tx: decisions.add_late(tx, decision_id, clean))

    def find(self, wanted: str = "last") -> Record:
        """Return the record of a decision, by its id, the beginning of it, or `last`."""
        self.take_in()
        row, trace = self._database.run(lambda tx: _find(tx, wanted), only_reads=True)
        if row is None:
            what = "no decision has been made yet" if wanted == "last" else f"there is no decision `{wanted}`"
            raise StoreError(what, advice="make one with `snell fire PreToolUse --tool Bash`")
        record: Record = msgspec.json.decode(trace.body) if trace and trace.body else record_from(row)
        late = msgspec.json.decode(trace.late) if trace else []
        return {**record, "late": late} if late else record

    def recent(self, **asked: Any) -> list[Row]:
        """Return the last decisions, newest first; the arguments are those of `records.decisions.recent`."""
        if asked.get("session"):
            asked["session"] = _safe_id(asked["session"])
        if asked.get("session_begins"):
            asked["session_begins"] = session_beginning(asked["session_begins"])
        self.take_in()
        return self._database.run(lambda tx: decisions.recent(tx, **asked), only_reads=True)

    def _write(self, rows: Sequence[Row], more: Callable[[Transaction], object] | None = None) -> None:
        with self._lock:
            self._unsaved.extend(rows)
            try:
                self._database.run(lambda tx: self._save(tx, more))
            except StoreError as error:
                self.problem = f"the journal could not be written: {error}"
                self.lost += max(0, len(self._unsaved) - UNSAVED)
                del self._unsaved[UNSAVED:]
                return
            self.problem = ""
            self._unsaved.clear()
            self._only_in_file = 0
            if self._pending:
                self._pending.mark_saved()

    def _save(self, tx: Transaction, more: Callable[[Transaction], object] | None) -> None:
        if self._only_in_file and self._pending:
            rows = list(self._pending.rows())
            for first in range(0, len(rows), 100):
                decisions.add_many(tx, rows[first : first + 100])
        for row in self._unsaved:
            decisions.add(tx, row)
        if more:
            more(tx)


def _take_in(tx: Transaction, rows: Sequence[Row], gone: Sequence[Row]) -> None:
    """Add rows; `gone` are those of a process that has ended, whose tool calls are added, too."""
    for row in rows:
        decisions.add(tx, row)
    orphaned_calls.add_missing_calls(tx, gone)


def row_of(decision: Decision, request_key: str = "") -> Row:
    """Return the small row of a decision."""
    event = decision.event
    seconds = 0.0
    for each in decision.rounds:
        spent = [outcome.seconds for outcome in each.outcomes if outcome is not QUIET]
        seconds += max(spent) if spent else 0.0
    return Row(
        id=decision.id,
        at=time.time_ns() // 1_000_000,
        session_id=_safe_id(event.session_id),
        client=_safe_id(event.client),
        event=_safe_id(event.name),
        tool=_safe_id(event.tool),
        tool_use_id=_safe_id.__wrapped__(event.tool_use_id),  # every one is new, so it is not remembered
        request_key=request_key,
        verdict=_VERDICTS[decision.verdict],
        ms=round(seconds * 1000, 3) if seconds else 0.0,
        rewritten=int(bool(decision.changes) and decision.is_rewritten),
        failures=len(decision.failures),
        in_ledger=int(decision.in_ledger),
    )


_VERDICTS = {verdict: verdict.name.lower() for verdict in Verdict}


def _row_from(record: Record) -> Row:
    """Return the row of a record, for a decision that was not committed."""
    return Row(
        id=str(record["id"]),
        at=time.time_ns() // 1_000_000,
        session_id=_safe_id(str(record.get("session_id", ""))),
        client=_safe_id(str(record.get("client", ""))),
        event=_safe_id(str(record.get("event", ""))),
        tool=_safe_id(str(record.get("tool", ""))),
        verdict=str(record.get("verdict", "no_opinion")),
        rewritten=int(bool(record.get("changes"))),
        failures=len(record.get("failures", ())),
    )


def record_from(row: Row) -> Record:
    """Return what is known of a decision without a trace, such as after a crash."""
    known = {name: getattr(row, name) for name in PLAIN_FIELDS if getattr(row, name, "")}
    return {**known, "problems": ["the details of this decision were not kept"]}


def _find(tx: Transaction, wanted: str) -> tuple[Row | None, decisions.Trace | None]:
    row = decisions.find(tx, wanted)
    return row, decisions.trace(tx, row.id) if row else None


def session_beginning(text: str) -> str:
    """Return the beginning of an id as rows have it: a user may also give the hash that replaces an unsafe one."""
    return text if text.startswith("#") and _SAFE.fullmatch(text[1:]) else _safe_id(text)


_SAFE = re.compile(r"[\w.:/@ -]{0,128}", re.ASCII)


@lru_cache(maxsize=1024)
def _safe_id(text: str) -> str:
    """Return an id from outside; a short hash of it where it does not look like an id."""
    if _SAFE.fullmatch(text):
        return text
    return "#" + hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
