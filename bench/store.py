"""Measure the row that is committed before every answer: its cost, and its growth with the file."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from bench.measure import interleaved
from snell.model.decision import Decision
from snell.model.events import event_from
from snell.records import decisions
from snell.records.decisions import Row
from snell.runtime.database_journal import StoreJournal
from snell.runtime.stored_marks import StoredMarks
from snell.store.in_memory import InMemoryStore
from snell.store.sqlite import SqliteDatabase

SMALL = 1_000
SESSIONS = 200
AT_ONCE = 1_000

EVENT = event_from({"session_id": "bench", "tool_name": "Bash", "tool_input": {"command": "ls"}}, "PreToolUse")


def insert_at_a_hundred_thousand(rounds: int = 30) -> tuple[float, dict[str, float]]:
    """Committing one row: with 100,000 rows in the file, over the same with 1,000."""
    return _growth(100_000, rounds)


def insert_at_a_million(rounds: int = 30) -> tuple[float, dict[str, float]]:
    """The same with 1,000,000 rows; filling the file takes about a minute."""
    return _growth(1_000_000, rounds)


def commit_over_bare_sqlite(rounds: int = 30) -> tuple[float, dict[str, float]]:
    """`StoreJournal.commit`, over one bare insert of the same values with the same settings."""
    with _database(SMALL) as ours, _database(SMALL) as theirs:
        bare, journal = bare_commit(theirs), StoreJournal(ours)
        numbers = _numbers()
        commit = lambda: journal.commit(Decision(event=EVENT, id=_id(next(numbers))), f"{next(numbers)}")  # noqa: E731 a candidate
        times = interleaved({"our commit": commit, "bare insert": bare}, rounds=rounds, calls=100)
    return times["our commit"] / times["bare insert"], times


def mark_over_memory(rounds: int = 30) -> tuple[float, dict[str, float]]:
    """Asking for a mark that is in the database, over the same in a dictionary."""
    with _database(0) as database:
        stored, memory = StoredMarks(database), InMemoryStore()
        for store in (stored, memory):
            store.put("session:bench", "once:hook", True)
        times = interleaved(
            {
                "stored": lambda: stored.get("session:bench", "once:hook"),
                "in memory": lambda: memory.get("session:bench", "once:hook"),
            },
            rounds=rounds,
            calls=5_000,
        )
    return times["stored"] / times["in memory"], times


def _growth(large: int, rounds: int) -> tuple[float, dict[str, float]]:
    with _database(SMALL) as small, _database(large) as big:
        candidates = {f"{SMALL:,} rows": _insert(small), f"{large:,} rows": _insert(big)}
        times = interleaved(candidates, rounds=rounds, calls=100)
    few, many = times.values()
    return many / few, times


def _insert(database: SqliteDatabase) -> Callable[[], object]:
    numbers = _numbers()
    return lambda: database.run(lambda tx: decisions.add(tx, _row(next(numbers))))


def bare_commit(database: SqliteDatabase) -> Callable[[], object]:
    connection = apsw.Connection(str(database.path))
    connection.pragma("synchronous", "NORMAL")
    connection.pragma("wal_autocheckpoint", 0)
    sql = f"INSERT INTO decisions ({', '.join(decisions.FIELDS)}) VALUES ({', '.join('?' for _ in decisions.FIELDS)})"
    numbers = _numbers()
    return lambda: connection.execute(sql, decisions.values_of(_row(next(numbers))))


@contextmanager
def _database(rows: int) -> Iterator[SqliteDatabase]:
    """A file with this many rows, its log emptied."""
    with tempfile.TemporaryDirectory(prefix="snell-bench-") as folder:
        database = SqliteDatabase(Path(folder) / "state" / "snell.db")
        for first in range(0, rows, AT_ONCE):
            made = [_row(number) for number in range(first, min(rows, first + AT_ONCE))]
            database.run(lambda tx, made=made: decisions.add_many(tx, made))
            if first % 50_000 == 0:
                database.checkpoint()
        database.checkpoint()
        yield database
        database.close()


def _numbers() -> Iterator[int]:
    return iter(range(10_000_000, 100_000_000))


def _row(number: int) -> Row:
    return Row(
        id=_id(number),
        at=time.time_ns() // 1_000_000,
        session_id=f"session-{number % SESSIONS}",
        client="claude-code",
        event="PreToolUse",
        tool="Bash",
        tool_use_id=f"toolu_{number:024}",
        request_key=os.urandom(32).hex(),  # as scattered as the hashes that stand there
        ms=0.25,
        payload_hash=f"{number:032x}",
        reply_hash=f"{number:032x}",
    )


def _id(number: int) -> str:
    return f"{0x19C00000000 + number:x}-{number % 65_536:08x}"
