"""What the ledger costs: before the answer in durable mode, in audit mode, and when there are a million rows."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw

from bench.measure import interleaved
from snell.audit import compare as audit_check
from snell.model.context import Context
from snell.model.events import Event, event_from
from snell.model.hooks import Hook
from snell.records import audit_chain, ledger
from snell.records.audit_anchors import Anchor
from snell.records.decisions import Row
from snell.records.decisions import add as add_decision
from snell.records.ledger import Call
from snell.runtime.app import Runtime
from snell.runtime.database_journal import StoreJournal
from snell.runtime.pending_rows import FOLDER, PendingRows
from snell.runtime.stored_marks import StoredMarks
from snell.sdk.decorators import hooks_of, informs, judges
from snell.settings.packs import pack_hooks
from snell.store.sqlite import SqliteDatabase

SESSION_CALLS = 200
CALLS = 20  # in one turn: what is compared differs by less than a busy moment takes
LETTER = {"to": "a@example.com", "subject": "hello", "body": "text"}

Measured = tuple[float, dict[str, float]]


def durable_over_plain_insert(rounds: int = 200) -> Measured:
    """
    What durable mode adds to a decision, over what one plain insert adds that a hook makes there.

    The insert is what a plain ledger would write before a tool runs: the call's row, with an id and a key that are both
    unique, in a file of its own with a write-ahead log and `synchronous=NORMAL`. Its values are made beforehand, and
    nothing is looked up, hashed or refused. It is made where the ledger works, in a hook beside the same other hooks.
    Alone in a loop the same insert takes half as long, because nothing else passes through the processor's caches
    between two of them; that is printed too, and no answer ever waits for so little.
    """
    return _added("PreToolUse", rounds)


def receipt_over_plain_insert(rounds: int = 200) -> Measured:
    """The same when a tool has brought something: the beginning of it is redacted and kept before the answer leaves."""
    return _added("PostToolUse", rounds)


def _added(event: str, rounds: int) -> Measured:
    with tempfile.TemporaryDirectory(prefix="snell-bench-") as folder, ExitStack() as houses:
        hooks = {
            "without": QUIET,
            "plain insert": [*QUIET, *_inserting(_plain_insert(Path(folder, "hook.db"), rounds * CALLS))],
        }
        made = {name: houses.enter_context(_runtime("", *each)) for name, each in hooks.items()}
        made["durable"] = houses.enter_context(_runtime("durable", *QUIET))
        candidates = {name: _deciding(runtime, event) for name, runtime in made.items()}
        candidates["plain insert in a loop"] = _plain_insert(Path(folder, "loop.db"), rounds * CALLS)
        times = interleaved(candidates, rounds=rounds, calls=CALLS)
    plain = times["plain insert"] - times["without"]
    return max(0.0, times["durable"] - times["without"]) / max(plain, 1e-9), times


def _plain_insert(path: Path, rows: int) -> Callable[[], object]:
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "NORMAL")
    connection.pragma("wal_autocheckpoint", 0)  # as ours, which another thread empties
    columns = (*(name for name in ledger.FIELDS if name not in ("tool_call_id", "idempotency_key")),)
    connection.execute(
        "CREATE TABLE tool_calls (tool_call_id TEXT PRIMARY KEY, idempotency_key TEXT NOT NULL UNIQUE,"
        f" {', '.join(columns)})"
    )
    names = ("tool_call_id", "idempotency_key", *columns)
    sql = f"INSERT INTO tool_calls ({', '.join(names)}) VALUES ({', '.join('?' for _ in names)})"
    made = iter([tuple(getattr(_call(number), name) for name in names) for number in range(rows)])
    return lambda: connection.execute(sql, next(made))


def _call(number: int) -> Call:
    return Call(
        tool_call_id=f"bench/t{number}",
        run_id="bench",
        session_id="bench",
        created_at=number,
        started_at=number,
        raw_tool_name="mcp__mail__send",
        tool_name="send",
        tool_namespace="mcp",
        side_effect_class="external",
        normalized_args_hash=os.urandom(32).hex(),
        idempotency_key=os.urandom(32).hex(),
        status="prepared",
    )


def _inserting(insert: Callable[[], object]) -> list[Hook]:
    @judges("PreToolUse")
    def before(event: Event, context: Context) -> None:
        insert()

    @informs("PostToolUse")
    def after(event: Event, context: Context) -> None:
        insert()

    return hooks_of([before, after])


def audit_over_no_ledger(rounds: int = 200) -> Measured:
    """A decision with the ledger in audit mode, over one without it, up to where the answer leaves."""
    with _runtime("audit", *QUIET) as audit, _runtime("", *QUIET) as without:
        times = interleaved({"audit": _deciding(audit), "without": _deciding(without)}, rounds=rounds, calls=CALLS)
    return times["audit"] / times["without"], times


def session_at_a_hundred_thousand(rounds: int = 20) -> Measured:
    """List, show and stats of one session: with 100,000 rows in the file, over the same with 10,000."""
    return _growth(100_000, rounds)


def session_at_a_million(rounds: int = 20) -> Measured:
    """The same with 1,000,000 rows; filling the file takes minutes."""
    return _growth(1_000_000, rounds)


def verifying_over_five_seconds(records: int = 100_000, **_: int) -> Measured:
    """Seconds to verify 100,000 records, over five."""
    with _database() as database:
        _fill_decisions(database, records // 2)
        _fill(database, records // 2)
        key = b"k" * 32
        head = audit_chain.Head()
        while (longer := database.run(lambda tx: audit_chain.extend(tx, key))) != head:
            head = longer
        start = time.perf_counter()
        found = database.run(lambda tx: audit_check.verify(tx, key, [Anchor(head.count, head.link)]))
        took = time.perf_counter() - start
        assert found.is_good, found
        assert found.decisions + found.calls == records
    return took / 5.0, {"verify": took}


def _deciding(runtime: Runtime, name: str = "PreToolUse") -> Callable[[], object]:
    """Return a function that decides a call with a new id, up to the moment when its answer leaves."""
    numbers = iter(range(10**9))

    def decide() -> object:
        work = runtime.prepare(_event(next(numbers), name))
        return runtime.commit(work, runtime.run_to_end(work))

    return decide


def _event(number: int, name: str) -> Event:
    given = {**LETTER, "subject": str(number)}
    payload = {"session_id": "bench", "tool_name": "mcp__mail__send", "tool_input": given, "tool_use_id": f"t{number}"}
    return event_from(payload if name == "PreToolUse" else {**payload, "tool_response": {"id": f"m{number}"}}, name)


@judges("PreToolUse")
def quiet_before(event: Event, context: Context) -> None:
    """Say nothing."""


@informs("PostToolUse")
def quiet_after(event: Event, context: Context) -> None:
    """Say nothing."""


QUIET = hooks_of([quiet_before, quiet_after])


@contextmanager
def _runtime(mode: str, *more: Hook) -> Iterator[Runtime]:
    """With a journal as the daemon has it."""
    with _database() as database:
        hooks = (*more, *(pack_hooks("ledger", {"mode": mode}) if mode else ()))
        journal = StoreJournal(database, pending=PendingRows(database.path.parent / FOLDER))
        runtime = Runtime.embed(*hooks, database=database, journal=journal, marks=StoredMarks(database), env={})
        yield runtime
        runtime.close()


def _growth(rows: int, rounds: int) -> Measured:
    with _database() as small, _database() as large:
        _fill(small, 10_000)
        _fill(large, rows)
        candidates = {"10,000 rows": lambda: _look(small), f"{rows:,} rows": lambda: _look(large)}
        times = interleaved(candidates, rounds=rounds, calls=10)
    return times[f"{rows:,} rows"] / times["10,000 rows"], times


def _look(database: SqliteDatabase) -> None:
    database.run(lambda tx: ledger.recent(tx, {"session_id": "s7"}))
    database.run(lambda tx: ledger.find_by_prefix(tx, "t7"))
    database.run(lambda tx: ledger.stats(tx, session="s7"))


def _fill(database: SqliteDatabase, rows: int) -> None:
    for first in range(0, rows, 5_000):
        database.run(lambda tx, first=first: _insert(tx, first, min(rows, first + 5_000), rows))  # type: ignore[misc] # its default


def _insert(tx: object, first: int, last: int, rows: int) -> None:
    """Sessions of the same length whatever the size of the file."""
    sessions = rows // SESSION_CALLS
    for number in range(first, last):
        call = Call(
            tool_call_id=f"s{number % sessions}/t{number}",
            run_id=f"s{number % sessions}",
            session_id=f"s{number % sessions}",
            created_at=number,
            started_at=number,
            raw_tool_name=("Bash", "Read", "Edit")[number % 3],
            idempotency_key=f"{number:064x}",
            status="succeeded",
            duration_ms=number % 1_000,
        )
        ledger.insert_if_missing(tx, call)  # type: ignore[arg-type] # a transaction


def _fill_decisions(database: SqliteDatabase, rows: int) -> None:
    for first in range(0, rows, 5_000):

        def fill(tx: object, first: int = first) -> None:
            for number in range(first, min(rows, first + 5_000)):
                add_decision(tx, Row(id=f"{number:012x}-b", at=number, session_id="s"))  # type: ignore[arg-type] # a transaction

        database.run(fill)


@contextmanager
def _database() -> Iterator[SqliteDatabase]:
    with tempfile.TemporaryDirectory(prefix="snell-bench-") as folder:
        database = SqliteDatabase(Path(folder) / "state" / "snell.db")
        yield database
        database.close()
