"""
The contract of databases and mark stores, as named checks.

Test a backend with one call of `store_contract(make)`, or with one test per name in `DATABASE_CHECKS`. `make(place)`
returns a database; called again with the same place, it returns one with the same content.
"""

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from msgspec.structs import replace

from snell.model.errors import StoreError
from snell.model.protocols import Database, Store, T, Transaction
from snell.records import decisions, marks, retention
from snell.records.decisions import Row

MakeDatabase = Callable[[str], Database]
Open = Callable[[], Database]  # the same database each time
MakeStore = Callable[[], Store]


def store_contract(make: MakeDatabase) -> None:
    """Run every check, each with its own database."""
    for name in DATABASE_CHECKS:

        def make_own(place: str, name: str = name) -> Database:
            return make(f"{name}-{place}")

        check_database(name, make_own)


def check_database(name: str, make: MakeDatabase) -> None:
    """Run one check and close its databases."""
    opened: list[Database] = []

    def open_database() -> Database:
        opened.append(make("a"))
        return opened[-1]

    try:
        DATABASE_CHECKS[name](open_database)
    finally:
        for database in opened:
            database.close()


def do(database: Database, function: Callable[..., T], *args: Any, **options: Any) -> T:
    """Call a function in a new transaction."""
    return database.run(lambda tx: function(tx, *args, **options))


def work_that_returns_is_kept(make: Open) -> None:
    def works(tx: Transaction) -> str:
        marks.put(tx, "s", "n", 1)
        return "answer"

    first = make()
    assert first.run(works) == "answer"
    assert do(first, marks.get, "s", "n") == 1
    first.close()
    assert make().run(lambda tx: marks.get(tx, "s", "n")) == 1


def work_that_raises_is_undone(make: Open) -> None:
    database = make()

    def fails(tx: Transaction) -> None:
        marks.put(tx, "s", "n", 1)
        raise KeyError("mine")

    assert isinstance(_error(lambda: database.run(fails)), KeyError)
    assert do(database, marks.in_scope, "s") == {}


def wrong_sql_is_a_store_error_and_the_database_goes_on(make: Open) -> None:
    database = make()
    assert isinstance(_error(lambda: database.run(lambda tx: tx.rows("SELECT nothing FROM nowhere"))), StoreError)
    assert database.run(lambda tx: tx.rows("SELECT 1")) == [(1,)]


def a_transaction_inside_another_is_refused(make: Open) -> None:
    database = make()
    error = _error(lambda: database.run(lambda tx: database.run(lambda inner: inner.rows("SELECT 1"))))
    assert "inside another" in str(error)
    assert database.run(lambda tx: tx.rows("SELECT 1")) == [(1,)]


def a_closed_database_opens_again(make: Open) -> None:
    database = make()
    do(database, marks.put, "s", "n", 1)
    database.close()
    database.close()
    assert do(database, marks.get, "s", "n") == 1


def changes_are_counted(make: Open) -> None:
    database = make()
    insert = "INSERT INTO marks (scope, name, value, updated_at) VALUES (?, ?, '1', 0) ON CONFLICT DO NOTHING"
    counts = database.run(lambda tx: [tx.do(insert, "s", "a"), tx.do(insert, "s", "a"), tx.do(insert, "s", "b")])
    assert counts == [1, 0, 1]
    assert database.run(lambda tx: tx.do("DELETE FROM marks WHERE scope = ?", "s")) == 2


def any_text_comes_back_as_it_went(make: Open) -> None:
    texts = ["", "'; DROP TABLE marks; --", "100%", "what? %s", "Zürich 東京 🎣", "a\nb\tc\\d", "x" * 100_000]
    database = make()
    for number, text in enumerate(texts):
        do(database, marks.put, text[:50], str(number), text)
    assert [do(database, marks.in_scope, text[:50]) for text in texts] == [
        {str(number): text} for number, text in enumerate(texts)
    ]


def marks_are_replaced_and_dropped(make: Open) -> None:
    values: list[Any] = [None, True, 0, 2**53, -1.5, "text", [1, ["two"]], {"three": {"four": None}}]
    database = make()
    for value in values:
        do(database, marks.put, "s", "n", value)
        assert do(database, marks.get, "s", "n") == value
    do(database, marks.put, "s", "other", 1)
    do(database, marks.put, "t", "n", 1)
    assert do(database, marks.drop, "s", "n") == 1
    assert do(database, marks.in_scope, "s") == {"other": 1}
    assert database.run(lambda tx: (marks.drop(tx, "s"), marks.drop(tx, "s"))) == (1, 0)
    assert do(database, marks.in_scope, "t") == {"n": 1}


def a_decision_is_kept_once_and_found_by_its_beginning(make: Open) -> None:
    database = make()
    rows = [_row(number) for number in range(3)]
    assert [do(database, decisions.add, row) for row in (*rows, rows[0])] == [True] * 3 + [False]
    found = do(database, decisions.find, rows[1].id)
    assert found == replace(rows[1], seq=found.seq if found else 0)
    asked = [do(database, decisions.find, wanted) for wanted in ("last", "1a-0001", "1a", "zz")]
    assert [row and row.id for row in asked] == [rows[2].id, rows[1].id, rows[2].id, None]


def decisions_are_listed_newest_first_by_what_is_asked(make: Open) -> None:
    database = make()
    for number in range(6):
        verdict = "deny" if number > 3 else "no_opinion"
        row = _row(number, session_id="odd" if number % 2 else "even", verdict=verdict)
        do(database, decisions.add, row)
        body = f'{{"rounds":[{{"hook":"pack/h{number}","role":"judges"}}]}}'
        do(database, decisions.add_trace, row.id, body)

    def recent(**asked: Any) -> list[int]:
        return [row.at - 1000 for row in do(database, decisions.recent, **asked)]

    assert recent() == [5, 4, 3, 2, 1, 0]
    assert (recent(session="even"), recent(verdict="deny")) == ([4, 2, 0], [5, 4])
    assert recent(client="c", event="PreToolUse", limit=2) == [5, 4]
    assert (recent(hook="pack/h3"), recent(hook="pack/h%"), recent(session="odd", hook="pack/h4")) == ([3], [], [])
    page = do(database, decisions.recent, limit=2)
    assert recent(limit=2, before=page[-1].seq) == [3, 2]


def traces_keep_what_came_late_in_whatever_order(make: Open) -> None:
    database = make()
    one, two = _row(1).id, _row(2).id
    do(database, decisions.add_many, [_row(1), _row(2)])
    do(database, decisions.add_trace, one, '{"a":1}')
    assert do(database, decisions.add_late, two, {"hook": "early"})
    do(database, decisions.add_trace, two, '{"b":2}')
    assert do(database, decisions.add_late, one, {"hook": "x"})
    assert do(database, decisions.add_late, one, {"hook": "y"})
    assert not do(database, decisions.add_late, "missing", {"hook": "z"})
    found = do(database, decisions.traces_after, 0, 10)
    assert [(each.decision_id, each.body, each.late) for each in found] == [
        (two, '{"b":2}', '[{"hook":"early"}]'),
        (one, '{"a":1}', '[{"hook":"x"},{"hook":"y"}]'),
    ]


def a_trace_without_its_decision_is_refused(make: Open) -> None:
    database = make()
    error = _error(lambda: do(database, decisions.add_trace, "missing", "{}"))
    assert isinstance(error, StoreError)
    assert do(database, decisions.traces_after, 0, 10) == []


def rows_that_are_sent_twice_count_once(make: Open) -> None:
    database = make()
    rows = [_row(number) for number in range(150)]
    trace = decisions.Trace(seq=7, decision_id=rows[0].id, body="{}", late="[]")
    gone = replace(trace, decision_id="missing")
    for _ in range(2):
        do(database, decisions.add_many, rows)
        do(database, decisions.put_traces, [trace, gone])
    assert [row.id for row in do(database, decisions.rows_after, 0, 1000)] == [row.id for row in rows]
    assert len(do(database, decisions.traces_after, 0, 10)) == 1


def old_rows_go_in_small_steps_and_the_newest_stays(make: Open) -> None:
    database = make()
    rows = [replace(_row(number), at=number * retention.DAY_MS) for number in range(250)]
    do(database, decisions.add_many, rows)
    traces = [decisions.Trace(seq=0, decision_id=row.id, body="{}", late="[]") for row in rows]
    do(database, decisions.put_traces, traces)
    now = 1_000 * retention.DAY_MS

    def until_done(expire: Callable[..., int], **options: Any) -> list[int]:
        counts = [1]
        while counts[-1]:
            counts.append(database.run(lambda tx: expire(tx, now=now, **options)))
        return counts[1:]

    assert until_done(retention.expire_traces, days=900) == [100, 0]
    fed = do(database, decisions.rows_after, 0, 120)[-1].seq
    assert until_done(retention.expire_decisions, days=900, up_to=fed) == [100, 0]
    assert until_done(retention.expire_decisions, up_to=fed) == [20, 0]
    assert until_done(retention.expire_decisions) == [100, 29, 0]
    left = database.run(lambda tx: (decisions.rows_after(tx, 0, 10), decisions.traces_after(tx, 0, 10)))
    assert ([row.id for row in left[0]], [trace.decision_id for trace in left[1]]) == ([rows[-1].id], [rows[-1].id])
    do(database, decisions.add, _row(999))
    assert do(database, decisions.rows_after, left[0][0].seq, 10)[0].id == _row(999).id


def threads_take_turns(make: Open) -> None:
    database = make()
    do(database, marks.put, "s", "n", 0)

    def count() -> None:
        for _ in range(50):
            database.run(lambda tx: marks.put(tx, "s", "n", marks.get(tx, "s", "n") + 1))

    _run_together([count] * 4)
    assert do(database, marks.get, "s", "n") == 200


def two_that_open_at_once_agree_on_the_schema(make: Open) -> None:
    errors: list[Exception] = []
    made = [make() for _ in range(4)]

    def use(database: Database) -> None:
        try:
            do(database, decisions.recent)
        except StoreError as error:
            errors.append(error)

    _run_together([partial(use, database) for database in made])
    assert errors == []


def check_store(make: MakeStore) -> None:
    """Check the contract of a mark store."""
    store = make()
    store.drop("s")
    store.drop("s", "n")
    assert store.get("s", "n") is None
    for value in (True, False, 0, 3, "text", ["a", 1], {"k": ["v"]}, None):
        store.put("s", "n", value)
        assert store.get("s", "n") == value
    store.put("s", "n", 1)
    store.put("s", "m", 2)
    store.put("t", "n", 3)
    store.drop("s", "n")
    assert [store.get("s", "n"), store.get("s", "m"), store.get("t", "n")] == [None, 2, 3]
    store.drop("s")
    assert [store.get("s", "m"), store.get("t", "n")] == [None, 3]


# Every check above: the public functions that take a way to open the database.
DATABASE_CHECKS: dict[str, Callable[[Open], None]] = {
    name: each for name, each in list(vars().items()) if getattr(each, "__annotations__", {}).get("make") is Open
}


def _row(number: int, **fields: Any) -> Row:
    known = {"at": 1000 + number, "client": "c", "event": "PreToolUse", "session_id": "s", "tool": "Bash", "ms": 0.25}
    return Row(**{"id": f"1a-{number:04}", **known, **fields})


def _run_together(functions: Iterable[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def _error(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - the check examines any error
        return error
    return None
