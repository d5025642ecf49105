"""
The journal in the database. `commit` writes one small row before a reply is sent, so that the decision is known
whatever happens next; `record` adds the trace, redacted, afterwards.

With `pending` the row goes to a file first (`pending_rows.py`), which is faster, and to the database with the next
trace. Traces go there only while the database cannot be written. Every reader first brings in what is pending.

A journal that cannot be written fails no event: it is reported as a problem, and the rows are tried again.
"""

import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import msgspec

from snell.model.decision import QUIET, Decision
from snell.model.errors import StoreError
from snell.model.protocols import Database, Transaction
from snell.records import decisions, orphaned_calls
from snell.records.decisions import Record, Row
from snell.runtime.pending_rows import FOLDER, PendingFile, PendingRows, PendingTrace, id_of_delivery, pending_files
from snell.runtime.trace_json import NOT_REDACTED, PLAIN_FIELDS, Redactor, TraceEncoder, redact_for_storage
from snell.system.lazy_regex import lazy_regex

UNSAVED = 1_000  # rows in memory while nothing can be written; more of them wait in the file alone
PENDING = 250  # rows that may wait for a trace to go with
AT_ONCE = 5_000  # rows of a file that are written in one transaction, since requests wait for it


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
        self.unread = ""  # why readers do not see some decisions; empty if they see all
        self.lost = 0  # rows for which there was no room anywhere
        self._unsaved: list[Row] = []
        self._only_in_file = 0  # how many more rows and traces wait
        self._last_committed = ""
        self._first_in_file = 0  # where the first of them begins, or an earlier one
        self._lock = threading.RLock()  # late hooks finish in threads of their own

    def commit(self, decision: Decision, key: str = "") -> None:
        """Write the small row. When this returns without a `problem`, the row survives the end of this process."""
        row = row_of(decision, key)
        with self._lock:
            # Rows that the database does not take, because the disk is full, wait for as long as there is room.
            may_wait = len(self._unsaved) < PENDING or self.problem
            if self._pending and may_wait and self._pending.append(row):
                self._last_committed = row.id
                if len(self._unsaved) < UNSAVED and not self._only_in_file:
                    self._unsaved.append(row)
                else:
                    self._only_in_file += 1
            else:
                self._write([row])

    def retract(self, decision_id: str) -> None:
        """Remove the row that was committed last: its reply was not sent, and another process decides that event."""
        with self._lock:
            if self._last_committed != decision_id or not self._pending or not self._pending.remove_last():
                return  # it is in the database by now
            if self._unsaved and self._unsaved[-1].id == decision_id:
                self._unsaved.pop()
            else:
                self._only_in_file -= 1

    def id_of_delivery(self, request_key: str) -> str:
        """Return the id of the decision that a process has committed about this delivery; empty if there is none."""
        found = id_of_delivery(self._folder, request_key) if self._folder and request_key else ""
        with suppress(StoreError):
            return found or self._database.run(lambda tx: decisions.find_delivery(tx, request_key), only_reads=True)
        return ""

    def record(self, *records: Record) -> None:
        """Add the traces of decisions, without their secrets. They need not have been committed before."""
        traces = [(str(record["id"]), self._traces.encode(record)) for record in records]

        def add_traces(tx: Transaction) -> None:
            for decision_id, body in traces:
                decisions.add_trace(tx, decision_id, body)

        with self._lock:
            if self._only_in_file and self._pending:  # their rows may be there, too, and have to come first
                self._only_in_file += sum(self._pending.append(PendingTrace(*each)) for each in traces)
                self._write([])
                return
            known = {row.id for row in self._unsaved}
            rows = [_row_from(record) for record in records if record["id"] not in known]
            if not self._write(rows, add_traces) and self._pending:
                self._only_in_file += sum(self._pending.append(PendingTrace(*each)) for each in traces)

    def flush(self) -> None:
        """Write everything that waits to the database: for a moment without requests, and for the end."""
        with self._lock:
            if self.waiting:
                self._write([])
            if self._pending and not self.waiting:
                self._pending.mark_saved(is_quiet=True)

    def close(self) -> None:
        self.flush()
        while self._only_in_file and not self.problem:
            self.flush()
        if self._pending:
            self._pending.close()

    @property
    def waiting(self) -> int:
        """Return how many committed rows, and traces in the file, are not in the database yet."""
        return len(self._unsaved) + self._only_in_file

    def take_in(self) -> None:
        """
        Write rows to the database that are pending here or in another process, or that a killed process left.

        Where that fails they stay where they are, a reader sees the rows that are in the database, and `unread` says
        which it does not see.
        """
        self.unread = ""
        self.flush()
        if self._folder:
            with suppress(StoreError), pending_files(self._folder) as files:
                try:
                    for file in files:
                        records = file.records()
                        while some := list(islice(records, AT_ONCE)):
                            self._database.run(partial(_take_in, records=some, is_orphaned=file.is_orphaned))
                except StoreError as error:
                    self.unread = self._unread_message(files, error)
                    raise
                if any(file.is_orphaned for file in files):
                    # Write the calls of decisions that a killed process had written without them.
                    newest = self._database.run(decisions.newest_seq, only_reads=True)
                    while self._database.run(lambda tx: orphaned_calls.catch_up(tx, newest)):
                        pass

    def _unread_message(self, files: Sequence[PendingFile], error: StoreError) -> str:
        ids = {each.id for file in files for each in file.records() if isinstance(each, Row)}
        known = self._database.run(lambda tx: {each for each in ids if decisions.find(tx, each)}, only_reads=True)
        number = len(ids - known)
        return f"{number} newer decision{'s' * (number != 1)} not shown: {error}" if number else ""

    def add_late(self, decision_id: str, run: Record) -> None:
        """Add what a hook did after the reply to the record of its decision."""
        if decision_id:
            clean = self._traces.redact(run) or {"hook": str(run.get("hook", "")), "remarks": [NOT_REDACTED]}
            self._write([], lambda tx: decisions.add_late(tx, decision_id, clean))

    def find(self, wanted: str = "last") -> Record:
        """Return the record of a decision, by its id, the beginning of it, or `last`."""
        if not self.unread:  # else it has just failed
            self.take_in()
        row, trace = self._database.run(lambda tx: _find(tx, wanted), only_reads=True)
        if row is None and self.unread:
            raise StoreError(self.unread)
        if row is None and wanted == "last":
            raise StoreError(
                "no decision has been made yet", advice="make one with `snell fire PreToolUse --tool Bash`"
            )
        if row is None:
            raise StoreError(f"there is no decision `{wanted}`", advice="`snell log` lists them")
        record: Record = msgspec.json.decode(trace.body) if trace and trace.body else record_from(row)
        late = msgspec.json.decode(trace.late) if trace else []
        return {**record, "late": late} if late else record

    def recent(self, **asked: Any) -> list[Row]:
        """Return the last decisions, newest first; the arguments are those of `records.decisions.recent`."""
        if asked.get("session"):
            asked["session"] = _safe_id(asked["session"])
        if asked.get("session_begins"):
            asked["session_begins"] = session_beginning(asked["session_begins"])
        if not self.unread:
            self.take_in()
        return self._database.run(lambda tx: decisions.recent(tx, **asked), only_reads=True)

    def _write(self, rows: Sequence[Row], more: Callable[[Transaction], object] | None = None) -> bool:
        """Write rows that wait, and `more`; returns whether the database took them."""
        with self._lock:
            self._unsaved.extend(rows)
            try:
                end = self._database.run(lambda tx: self._save(tx, more))
            except StoreError as error:
                self.problem = f"the journal could not be written: {error}"
                self.lost += max(0, len(self._unsaved) - UNSAVED)
                del self._unsaved[UNSAVED:]
                return False
            self.problem = ""
            self._unsaved.clear()
            used_file, self._first_in_file = self._only_in_file > 0, end
            self._only_in_file = max(1, self._only_in_file - AT_ONCE) if end else 0
            if self._pending and not end:
                self._pending.mark_saved(is_quiet=used_file)
            return True

    def _save(self, tx: Transaction, more: Callable[[Transaction], object] | None) -> int:
        """Write what waits; returns where the rest begins that waits in the file, or 0 if nothing is left."""
        for row in self._unsaved:
            decisions.add(tx, row)
        end = 0
        if self._only_in_file and self._pending:
            records = list(islice(self._pending.read(self._first_in_file), AT_ONCE))
            _add(tx, [record for record, _ in records])
            end = records[-1][1] if len(records) == AT_ONCE else 0
        if more:
            more(tx)
        return end


def _take_in(tx: Transaction, records: Sequence[Row | PendingTrace], *, is_orphaned: bool) -> None:
    """Add rows; those of a process that has ended with the tool calls that it did not add."""
    _add(tx, records)
    if is_orphaned:
        orphaned_calls.add_missing_calls(tx, [each for each in records if isinstance(each, Row)])


def _add(tx: Transaction, records: Iterable[Row | PendingTrace]) -> None:
    for each in records:
        if isinstance(each, Row):
            decisions.add(tx, each)
        elif decisions.find(tx, each.trace_of):
            decisions.add_trace(tx, each.trace_of, each.body)


def row_of(decision: Decision, request_key: str = "") -> Row:
    """Return the small row of a decision."""
    event = decision.event
    seconds = 0.0
    for each in decision.rounds:
        if each.outcomes.count(QUIET) < len(each.outcomes):  # seldom
            seconds += max(outcome.seconds for outcome in each.outcomes)
    return Row(
        id=decision.id,
        at=time.time_ns() // 1_000_000,
        session_id=_safe_id(event.session_id),
        client=_safe_id(event.client),
        event=_safe_id(event.name),
        tool=_safe_id(event.tool),
        tool_use_id=_safe_id.__wrapped__(event.tool_use_id),  # every one is new, so it is not remembered
        request_key=request_key,
        verdict=str(decision.verdict),
        ms=round(seconds * 1000, 3) if seconds else 0.0,
        rewritten=int(bool(decision.changes) and decision.is_rewritten),
        failures=len(decision.failures),
        in_ledger=int(decision.in_ledger),
    )


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


_SAFE = lazy_regex(r"[\w.:/@ -]{0,128}", re.ASCII)


@lru_cache(maxsize=1024)
def _safe_id(text: str) -> str:
    """Return an id from outside; a short hash of it where it does not look like an id."""
    if _SAFE.fullmatch(text):
        return text
    return "#" + hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
