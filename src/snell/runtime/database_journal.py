"""
The journal in the database. `commit` writes one small row before an answer leaves, so that what was answered is known
whatever happens next; `record` adds what can be told about it, redacted, afterwards.

Where every microsecond counts, the row goes to a file first (`pending_rows.py`) and to the database with the next
trace. Whoever reads the journal brings in what is pending, so nobody sees the difference.

A journal that cannot be written costs nobody an answer; it is remembered as a problem, and the rows are tried again.
"""

import hashlib
import os
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
from snell.model.meta_table import put_meta
from snell.model.protocols import Database, Transaction
from snell.records import decisions, orphaned_calls
from snell.records.decisions import Record, Row
from snell.runtime.pending_rows import FOLDER, PendingRows, found_in
from snell.system.json_output import json_value

UNSAVED = 10_000  # rows in memory, when nothing can be written; more of them wait in the file alone
PENDING = 250  # rows that may wait for a trace to go with
QUIET_BYTES = 300_000  # of runs and rounds that said nothing, remembered as they are written
LONGEST_TEXT = 65_536
LONGEST_BODY = 1_000_000

# Named in every record, and free of text that somebody wrote.
PLAIN_FIELDS = ("id", "client", "event", "session_id", "tool", "kind", "verdict")

Redactor = Callable[[Any], Any]


def for_storage(value: Any) -> Any:
    from snell.redact import redact_data  # slow to import, and not needed before the first answer

    return redact_data(value, LONGEST_TEXT)


class StoreJournal:
    """`pending` is for a process that lives on; without it a committed row is in the database at once."""

    def __init__(
        self, database: Database, redactor: Redactor = for_storage, pending: PendingRows | None = None
    ) -> None:
        self.problem = ""
        self._database = database
        self._redactor = redactor
        self._pending = pending
        path = getattr(database, "path", None)
        self._folder = path.parent / FOLDER if path else None
        self.lost = 0  # rows for which there was no room anywhere
        self._unsaved: list[Row] = []
        self._only_in_file = 0  # how many more rows wait
        self._lock = threading.RLock()  # late hooks finish in threads of their own
        self._hash_key = b""
        self._quiet: dict[int, tuple[Record, msgspec.Raw]] = {}
        self._quiet_bytes = 0

    def commit(self, decision: Decision, key: str = "", *, payload: bytes = b"", reply: bytes = b"") -> None:
        """Write the small row. When this returns without a `problem`, the row survives the end of this process."""
        row = row_of(decision, key)
        if payload or reply:
            hashes = {"payload_hash": self._hash(payload), "reply_hash": self._hash(reply)}
            row = msgspec.structs.replace(row, **hashes)
        with self._lock:
            # Rows that the database does not take, because the disk is full, wait for as long as there is room.
            may_wait = len(self._unsaved) < PENDING or self.problem
            if self._pending and may_wait and self._pending.append(row):
                self._wait_with(row)
            else:
                self._write([row])

    def _wait_with(self, row: Row) -> None:
        if len(self._unsaved) < UNSAVED:
            self._unsaved.append(row)
        else:
            self._only_in_file += 1

    def record(self, *records: Record) -> None:
        """Add what can be told about decisions, without their secrets. They need not have been committed before."""
        traces = [(str(record["id"]), self._body(record)) for record in records]
        with self._lock:
            known = {row.id for row in self._unsaved}
            rows = [_row_from(record) for record in records if record["id"] not in known]
            self._write(rows, lambda tx: _add_traces(tx, traces))

    def flush(self) -> None:
        """Bring everything that waits into the database: for a quiet moment, and for the end."""
        with self._lock:
            if self._unsaved:
                self._write([])
            if self._pending and not self._unsaved:
                self._pending.are_saved(is_quiet=True)

    def close(self) -> None:
        self.flush()
        if self._pending:
            self._pending.close()

    @property
    def waiting(self) -> int:
        """Rows that were answered for and are not in the database yet."""
        return len(self._unsaved) + self._only_in_file

    def take_in(self) -> None:
        """
        Bring in rows that are pending here, in another process, or that one left behind which was killed.

        Where that cannot be, they stay where they are; whoever only reads is not kept from what there is.
        """
        self.flush()
        if self._folder:
            with suppress(StoreError), found_in(self._folder) as files:
                rows = [row for file in files for row in file.rows]
                gone = [row for file in files if file.is_left_behind for row in file.rows]
                if rows:
                    self._database.run(lambda tx: _take_in(tx, rows, gone))
                if any(file.is_left_behind for file in files):
                    self._complete_ledger()

    def _complete_ledger(self) -> None:
        """A process that was killed may also have left decisions in the database whose calls it did not write."""
        newest = self._database.run(decisions.newest_seq, only_reads=True)
        while self._database.run(lambda tx: orphaned_calls.catch_up(tx, newest)):
            pass

    def add_late(self, decision_id: str, run: Record) -> None:
        """Add what a hook did after the answer to the record of its decision."""
        if decision_id:
            clean = self._redacted(run) or {"hook": str(run.get("hook", "")), "remarks": [_DROPPED]}
            self._write([], lambda tx: decisions.add_late(tx, decision_id, clean))

    def find(self, wanted: str = "last") -> Record:
        """The record of a decision, by its id, the beginning of it, or `last`."""
        self.take_in()
        row, trace = self._database.run(lambda tx: _found(tx, wanted), only_reads=True)
        if row is None:
            what = "no decision has been made yet" if wanted == "last" else f"there is no decision `{wanted}`"
            raise StoreError(what, advice="make one with `snell fire PreToolUse --tool Bash`")
        record: Record = msgspec.json.decode(trace.body) if trace and trace.body else _record_from(row)
        late = msgspec.json.decode(trace.late) if trace else []
        return {**record, "late": late} if late else record

    def recent(self, **asked: Any) -> list[Row]:
        """The last decisions, newest first; asked for as in `work.decisions.recent`."""
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
                self._pending.are_saved()

    def _save(self, tx: Transaction, more: Callable[[Transaction], object] | None) -> None:
        if self._only_in_file and self._pending:
            rows = list(self._pending.rows())
            for first in range(0, len(rows), 100):
                decisions.add_many(tx, rows[first : first + 100])
        for row in self._unsaved:
            decisions.add(tx, row)
        if more:
            more(tx)

    def _body(self, record: Record) -> str:
        # The id is our own. Every one is new, and would push out what the redactor remembers to be clean.
        clean = self._redacted({**record, "id": "", "rounds": []})
        if clean is not None:
            clean["id"] = record["id"]
        if clean and "changes" in record:
            pairs = zip(clean["changes"], record["changes"], strict=True)
            clean["changes"] = [{**kept, **self._hashes(change)} for kept, change in pairs]
        body = b"" if clean is None else self._with_rounds(clean, record)
        if body and len(body) <= LONGEST_BODY:
            return body.decode()
        why = f"the details took {len(body):,} bytes, so they were not kept" if body else _DROPPED
        kept = {name: str(record[name]) for name in PLAIN_FIELDS if name in record}
        return msgspec.json.encode(for_storage({**kept, "problems": [why]})).decode()

    def _hashes(self, change: Record) -> Record:
        """What was redacted can still be recognised by whoever has it."""
        return {
            f"{name}_hash": self._hash(msgspec.json.encode(json_value(change[name]))) for name in ("before", "after")
        }

    def _with_rounds(self, clean: Record, record: Record) -> bytes:
        """Empty when one of the runs cannot be written as it is."""
        rounds = [self._round(each) for each in record.get("rounds", ())]
        if not all(rounds):
            return b""
        del clean["rounds"]
        return msgspec.json.encode({**clean, "rounds": rounds} if rounds else clean)

    def _round(self, each: Record) -> msgspec.Raw | None:
        """A round as it is kept. One in which nobody spoke comes with every event, always as the same object."""
        known = self._quiet.get(id(each))
        if known and known[0] is each:
            return known[1]
        runs = [self._run(run) for run in each["runs"]]
        if not all(runs):
            return None
        written = msgspec.Raw(msgspec.json.encode({"pass": each["pass"], "runs": runs}))
        return self._remembered(each, written) if all(map(_is_quiet, each["runs"])) else written

    def _run(self, run: Record) -> msgspec.Raw | None:
        """The same for one run."""
        known = self._quiet.get(id(run))
        if known and known[0] is run:
            return known[1]
        clean = self._redacted(run)
        written = None if clean is None else msgspec.Raw(msgspec.json.encode(clean))
        return self._remembered(run, written) if written and _is_quiet(run) else written

    def _remembered(self, about: Record, written: msgspec.Raw) -> msgspec.Raw:
        if self._quiet_bytes > QUIET_BYTES:
            self._quiet.clear()
            self._quiet_bytes = 0
        self._quiet[id(about)] = (about, written)
        self._quiet_bytes += memoryview(written).nbytes
        return written

    def _redacted(self, record: Record) -> Record | None:
        """The record as it may be written; None when that cannot be told."""
        try:
            clean: Record = self._redactor(json_value(record))
            msgspec.json.encode(clean)
        except Exception:  # noqa: BLE001 whatever fails here, what was not redacted must not be written
            return None
        return clean

    def _hash(self, data: bytes) -> str:
        """Keyed, so that nobody who sees the rows can try out what the data may have been."""
        if not data:
            return ""
        self._hash_key = self._hash_key or self._known_key()
        return hashlib.blake2b(data, key=self._hash_key, digest_size=16).hexdigest()

    def _known_key(self) -> bytes:
        try:
            return self._database.run(_hash_key)
        except StoreError:
            return os.urandom(32)


def _take_in(tx: Transaction, rows: Sequence[Row], gone: Sequence[Row]) -> None:
    """`gone`: those of a process that can write nothing more, its tool calls neither."""
    for row in rows:
        decisions.add(tx, row)
    orphaned_calls.add_missing_calls(tx, gone)


def _add_traces(tx: Transaction, traces: Sequence[tuple[str, str]]) -> None:
    for decision_id, body in traces:
        decisions.add_trace(tx, decision_id, body)


_DROPPED = "the details could not be redacted, so they were not kept"


def row_of(decision: Decision, request_key: str = "") -> Row:
    """The small row of a decision."""
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
        tool_use_id=_safe_id.__wrapped__(event.tool_use_id),  # never comes again, so it is not remembered
        request_key=request_key,
        verdict=_VERDICTS[decision.verdict],
        ms=round(seconds * 1000, 3) if seconds else 0.0,
        rewritten=int(decision.is_rewritten),
        failures=len(decision.failures),
        in_ledger=int(decision.in_ledger),
    )


def _is_quiet(run: Record) -> bool:
    return not run.get("ms") and run.keys().isdisjoint(("effects", "failure", "remarks"))


_VERDICTS = {verdict: verdict.name.lower() for verdict in Verdict}


def _row_from(record: Record) -> Row:
    """The same from a record, for a decision that was not committed."""
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


def _record_from(row: Row) -> Record:
    """What is left of a decision whose details were not written, such as after a crash."""
    known = {name: getattr(row, name) for name in PLAIN_FIELDS if getattr(row, name, "")}
    return {**known, "problems": ["the details of this decision were not kept"]}


def _found(tx: Transaction, wanted: str) -> tuple[Row | None, decisions.Trace | None]:
    row = decisions.find(tx, wanted)
    return row, decisions.trace(tx, row.id) if row else None


def session_beginning(text: str) -> str:
    """The beginning of an id as rows have it. What stands for an id that is none is shown, so it is asked for too."""
    return text if text.startswith("#") and _SAFE.fullmatch(text[1:]) else _safe_id(text)


_SAFE = re.compile(r"[\w.:/@ -]{0,128}", re.ASCII)


@lru_cache(maxsize=1024)
def _safe_id(text: str) -> str:
    """An id from outside, or, when it is not one, something short that stands for it."""
    if _SAFE.fullmatch(text):
        return text
    return "#" + hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _hash_key(tx: Transaction) -> bytes:
    found = tx.rows("SELECT value FROM meta WHERE name = 'hash_key'")
    if not found:
        put_meta(tx, "hash_key", os.urandom(32).hex())
        return _hash_key(tx)
    return bytes.fromhex(found[0][0])
