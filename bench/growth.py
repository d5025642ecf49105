"""Measure what people wait for when the store has grown from 300,000 to 1,000,000 decisions and tool calls."""

import functools
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from bench.measure import interleaved
from snell.model.decision import Decision
from snell.model.events import event_from
from snell.model.protocols import Transaction
from snell.records import decisions, ledger
from snell.records.call_totals import read_stats
from snell.runtime.database_journal import StoreJournal
from snell.store.sqlite import SqliteDatabase

FEW, MANY = 300_000, 1_000_000
SESSION_CALLS = 200
STEP = 20_000
EVENT = event_from({"session_id": "bench", "tool_name": "Bash", "tool_input": {"command": "ls"}}, "PreToolUse")
BODY = '{"reason": "", "runs": [], "value": "ls"}'

Measured = tuple[float, dict[str, float]]
Look = Callable[[SqliteDatabase], Callable[[], object]]


def event_at_a_million() -> Measured:
    """Commit the row of an event."""
    return _growth(_commit, calls=50)


def log_at_a_million() -> Measured:
    """Read the last decisions, as `snell log` does, also those of one session."""
    return _growth(_log)


def why_at_a_million() -> Measured:
    """Find a decision by its id and read its trace, as `snell why` does."""
    return _growth(_why)


def session_stats_at_a_million() -> Measured:
    """Read the statistics of one session, as `snell ledger stats --session` does."""
    return _growth(lambda database: lambda: read_stats(database, session="s7"))


def stats_at_a_million() -> Measured:
    """Read the statistics over all calls, as `snell ledger stats` does; the first reading has stored the sums."""
    return _growth(lambda database: lambda: read_stats(database))


def session_at_a_million() -> Measured:
    """List, show and count the calls of one session: with 1,000,000 rows, over the same with 10,000."""
    return _growth(_session, few=10_000)


def _session(database: SqliteDatabase) -> Callable[[], object]:
    def read(tx: Transaction) -> None:
        ledger.recent(tx, {"session_id": "s7"})
        ledger.find_by_prefix(tx, "t7")

    return lambda: (database.run(read, only_reads=True), read_stats(database, session="s7"))


def _commit(database: SqliteDatabase) -> Callable[[], object]:
    journal, numbers = StoreJournal(database), iter(range(MANY, 10**9))

    def commit() -> None:
        number = next(numbers)
        journal.commit(Decision(event=EVENT, id=_id(number)), f"key {number}")

    return commit


def _log(database: SqliteDatabase) -> Callable[[], object]:
    def read(tx: Transaction) -> None:
        decisions.recent(tx, limit=20)
        decisions.recent(tx, session_begins="s7", limit=20)
        ledger.recent(tx, {"session_id": "s7"})

    return lambda: database.run(read, only_reads=True)


def _why(database: SqliteDatabase) -> Callable[[], object]:
    def read(tx: Transaction) -> None:
        found = decisions.find(tx, _id(FEW // 2))
        assert found is not None
        assert decisions.trace(tx, found.id) is not None

    return lambda: database.run(read, only_reads=True)


def _growth(look: Look, *, few: int = FEW, rounds: int = 20, calls: int = 5) -> Measured:
    with _opened(few) as small, _opened(MANY) as large:
        candidates = {f"{few:,} rows": look(small), f"{MANY:,} rows": look(large)}
        for candidate in candidates.values():
            candidate()
        times = interleaved(candidates, rounds=rounds, calls=calls)
    before, after = times.values()
    return after / before, times


@contextmanager
def _opened(rows: int) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(_filled(rows))
    yield database
    database.close()


@functools.cache
def _filled(rows: int) -> Path:
    """Return a file with so many decisions, traces and calls; sessions have one length whatever the file's size."""
    folder = _folder()
    path = Path(folder, str(rows), "snell.db")
    SqliteDatabase(path).open()
    with apsw.Connection(str(path)) as connection:  # without seals, which would take minutes
        for first in range(0, rows, STEP):
            _fill(connection, range(first, min(rows, first + STEP)), rows // SESSION_CALLS)
    return path


@functools.cache
def _folder() -> str:
    kept = tempfile.TemporaryDirectory(prefix="snell-bench-")  # removed when Python ends
    _KEPT.append(kept)
    return kept.name


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def _fill(connection: apsw.Connection, numbers: range, sessions: int) -> None:
    now = time.time_ns() // 1_000_000
    names, blanks = ", ".join(decisions.FIELDS), ", ".join("?" for _ in decisions.FIELDS)
    made = (
        decisions.Row(id=_id(number), at=now, session_id=f"s{number % sessions}", event="PreToolUse", tool="Bash")
        for number in numbers
    )
    rows = (decisions.values_of(row) for row in made)
    connection.executemany(f"INSERT INTO decisions ({names}) VALUES ({blanks})", rows)
    traces = ((number + 1, _id(number), BODY) for number in numbers)
    connection.executemany("INSERT INTO traces (seq, decision_id, body, late) VALUES (?, ?, ?, '[]')", traces)
    calls = (
        ledger.Call(
            tool_call_id=f"s{number % sessions}/t{number}",
            session_id=f"s{number % sessions}",
            created_at=now,
            raw_tool_name=("Bash", "Read", "Edit")[number % 3],
            idempotency_key=f"{number:064x}",
            status="succeeded",
            duration_ms=number % 1_000,
        )
        for number in numbers
    )
    columns = [name for name in ledger.FIELDS if name != "revision"]
    sql = f"INSERT INTO tool_calls ({', '.join(columns)}, revision) VALUES ({', '.join('?' for _ in columns)}, ?)"
    values = (
        (*(getattr(call, name) for name in columns), number + 1) for number, call in zip(numbers, calls, strict=True)
    )
    connection.executemany(sql, values)


def _id(number: int) -> str:
    return f"{number:012x}-b"
