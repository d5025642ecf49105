"""Calls, claims, runs and the audit chain as rows, on every backend."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from snell.audit import compare as audit_check
from snell.audit.findings import Findings
from snell.model.errors import StoreError
from snell.model.protocols import Database
from snell.model.tables import put_meta
from snell.records import audit_chain, claims, ledger, replays, resume, retention
from snell.records.audit_anchors import Anchor
from snell.records.call_totals import ToolStats, read_stats
from snell.records.claims import Claim, Receipt
from snell.records.decisions import Row
from snell.records.decisions import add as add_decision
from snell.records.ledger import Call, End
from snell.records.resume import ResumeResult
from snell.store.sqlite import SqliteDatabase
from snell.work import runs
from snell.work.runs import Run

Make = Callable[[str], Database]
KEY = b"k" * 32


@pytest.fixture
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "postgres":
        on_postgres: Make = request.getfixturevalue("on_postgres")
        return on_postgres
    return lambda place: SqliteDatabase(tmp_path / "state" / f"{place}.db")


@pytest.fixture
def database(make: Make) -> Any:
    made = make("a")
    yield made
    made.close()


every_backend = pytest.mark.parametrize(
    "make", ["sqlite", pytest.param("postgres", marks=pytest.mark.process)], indirect=True
)


def call(number: int, **fields: Any) -> Call:
    usual = {
        "tool_call_id": f"s/t{number}",
        "run_id": "r",
        "session_id": "s",
        "created_at": number,
        "started_at": number,
        "raw_tool_name": "send",
        "idempotency_key": f"k{number}",
        "status": "running",
    }
    return Call(**{**usual, **fields})


def claim(number: int, key: str = "k", **fields: Any) -> Claim:
    return Claim(**{"run_id": "r", "key": key, "tool_call_id": f"s/t{number}", "at": number, **fields})


@pytest.mark.proves("S3-39")
@every_backend
def test_the_tables_of_the_ledger_are_there_with_their_columns(database: Database):
    wanted = {
        "tool_calls": Call.__struct_fields__,
        "runs": Run.__struct_fields__,
        "tool_receipts": ("tool_call_id", "run_id", "created_at", "status", "body"),
        "run_steps": ("step_id", "run_id", "step_index", "status", "phase", "error"),
        "checkpoints": ("run_id", "step_id", "checkpoint_type", "snapshot", "replay_cursor"),
    }
    for table, columns in wanted.items():
        assert database.run(lambda tx, t=table, c=columns: tx.rows(f"SELECT {', '.join(c)} FROM {t}")) == []  # type: ignore[misc] # defaults
    assert {"started_at", "finished_at", "duration_ms"} <= set(Call.__struct_fields__)


@pytest.mark.proves("S3-36", "S3-37")
@every_backend
def test_a_call_begins_and_ends_in_either_order(database: Database):
    end = End(status="succeeded", at=30, response_ref="x")
    for number, steps in ((1, ("begin", "finish")), (2, ("finish", "begin"))):
        for step in steps:
            if step == "begin":
                database.run(lambda tx, n=number: ledger.begin(tx, call(n)))  # type: ignore[misc] # defaults
            else:
                database.run(lambda tx, n=number: ledger.finish(tx, call(n), end))  # type: ignore[misc] # defaults
    found = [database.run(lambda tx, n=n: ledger.find(tx, f"s/t{n}")) for n in (1, 2)]  # type: ignore[misc] # defaults
    for number, each in enumerate(found, 1):
        assert each is not None
        wanted = call(
            number, status="succeeded", updated_at=30, finished_at=30, duration_ms=30 - number, response_ref="x"
        )
        assert replace(each, revision=0) == wanted


@every_backend
def test_a_call_that_has_ended_never_changes_again(database: Database):
    database.run(lambda tx: ledger.finish(tx, call(1), End(status="failed", at=9, error_detail="no")))
    before = database.run(lambda tx: ledger.find(tx, "s/t1"))
    assert database.run(lambda tx: ledger.finish(tx, call(1), End(status="succeeded", at=99))) is False
    assert database.run(lambda tx: ledger.begin(tx, call(1, status="prepared"))) is False
    assert database.run(lambda tx: ledger.find(tx, "s/t1")) == before


@every_backend
def test_a_clock_that_went_back_gives_no_negative_duration(database: Database):
    database.run(lambda tx: ledger.finish(tx, call(1, started_at=10_000), End(status="succeeded", at=5)))
    found = database.run(lambda tx: ledger.find(tx, "s/t1"))
    assert found is not None
    assert found.duration_ms == 0


@every_backend
def test_calls_are_found_counted_and_paged(database: Database):
    def fill(tx: Any) -> None:
        for number in range(1, 7):
            which = {"raw_tool_name": "Bash"} if number % 2 else {"session_id": "other", "run_id": "other"}
            ledger.begin(tx, call(number, **which))
        ledger.finish(tx, call(1), End(status="failed", at=11))
        ledger.finish(tx, call(3), End(status="succeeded", at=5, duration_ms=70))
        ledger.finish(tx, call(5), End(status="denied", at=5, duration_ms=0))

    database.run(fill)
    ids = lambda calls: [each.tool_call_id for each in calls]  # noqa: E731 - short for many
    assert ids(database.run(lambda tx: ledger.recent(tx, {"session_id": "s"}))) == ["s/t5", "s/t3", "s/t1"]
    assert ids(database.run(lambda tx: ledger.recent(tx, {"status": "failed"}))) == ["s/t1"]
    assert read_stats(database, session="s") == [ToolStats("Bash", 3, 1, 1, 80, 70)]
    assert ids(database.run(lambda tx: ledger.find_by_prefix(tx, "t3"))) == ["s/t3"]
    assert ids(database.run(lambda tx: ledger.find_by_prefix(tx, "last"))) == ["s/t6"]
    database.run(lambda tx: ledger.begin(tx, call(30)))
    assert ids(database.run(lambda tx: ledger.find_by_prefix(tx, "t3"))) == ["s/t3"]  # not the one that begins like it
    assert ids(database.run(lambda tx: ledger.find_by_prefix(tx, "t30"))) == ["s/t30"]
    assert ids(database.run(lambda tx: ledger.find_by_prefix(tx, "s/t30"))) == ["s/t30"]
    assert len(database.run(lambda tx: ledger.find_by_prefix(tx, "t"))) == 2
    assert database.run(lambda tx: ledger.find_by_prefix(tx, "%")) == []
    assert ids(database.run(lambda tx: ledger.page(tx, {}, (3, "s/t3"), 2))) == ["s/t4", "s/t5"]
    assert ids(database.run(lambda tx: ledger.open_calls(tx, "other"))) == ["s/t2", "s/t4", "s/t6"]


@every_backend
def test_one_holds_a_key_and_another_learns_who(database: Database):
    assert database.run(lambda tx: claims.claim(tx, claim(1))) is None
    assert database.run(lambda tx: claims.claim(tx, claim(2))) == claim(1)
    database.run(lambda tx: claims.release(tx, "r", "k", "s/t2"))
    assert database.run(lambda tx: claims.holder(tx, "r", "k")) == claim(1)
    database.run(lambda tx: claims.take_over(tx, claim(2)))
    assert database.run(lambda tx: claims.holder(tx, "r", "k")) == claim(2)
    database.run(lambda tx: claims.release(tx, "r", "k", "s/t2"))
    assert database.run(lambda tx: claims.holder(tx, "r", "k")) is None


@pytest.mark.proves("S3-49")
@every_backend
def test_a_resumed_run_promotes_receipts_and_knows_what_is_unknown(database: Database):
    def left(tx: Any) -> None:
        for number in (1, 2, 3):
            claims.claim(tx, claim(number, f"k{number}", tool="send"))
        ledger.begin(tx, call(1))
        ledger.begin(tx, call(2))
        claims.put_receipt(tx, Receipt(tool_call_id="s/t1", run_id="r", at=8, status="succeeded", body="sent"))
        claims.put_receipt(tx, Receipt(tool_call_id="s/t2", run_id="r", at=8, status="failed", body="no"))

    database.run(left)
    found = database.run(lambda tx: resume.resume(tx, "r", 50))
    assert found == ResumeResult(("s/t1",), ("s/t2",), ("s/t3",))
    held = [database.run(lambda tx, n=n: claims.holder(tx, "r", f"k{n}")) for n in (1, 2, 3)]  # type: ignore[misc] # defaults
    assert [each and (each.status, each.preview) for each in held] == [
        ("succeeded", "sent"),
        None,
        ("abandoned_on_resume", ""),
    ]
    assert database.run(lambda tx: tx.rows("SELECT * FROM tool_receipts")) == []
    assert database.run(lambda tx: resume.resume(tx, "r", 60)) == ResumeResult()
    statuses = database.run(lambda tx: [each.status for each in ledger.recent(tx)])
    assert statuses == ["abandoned_on_resume", "failed", "succeeded"]


@every_backend
def test_a_run_is_cancelled_waits_goes_on_and_ends(database: Database):
    assert database.run(lambda tx: (runs.start(tx, Run(run_id="r")), runs.start(tx, Run(run_id="r")))) == (True, False)
    assert database.run(lambda tx: runs.wait_for_human(tx, "r", 1, "look")) is True
    assert database.run(lambda tx: runs.find(tx, "r")) == Run(
        run_id="r", updated_at=1, status="waiting_for_human", waiting_for="look"
    )
    assert database.run(lambda tx: (runs.approve(tx, "r", 2), runs.approve(tx, "r", 2))) == (True, False)
    assert database.run(lambda tx: runs.cancel(tx, "r", 3, "enough")) is True
    assert database.run(lambda tx: runs.wait_for_human(tx, "r", 4, "no")) is False
    database.run(lambda tx: runs.finish(tx, "r", 5, "cancelled"))
    assert database.run(lambda tx: runs.cancel(tx, "r", 6)) is False


@pytest.mark.proves("S3-75")
@pytest.mark.parametrize(
    ("fields", "now", "over"),
    [
        ({}, 90 * 60_000, ""),
        ({}, 90 * 60_000 + 1, "90 minutes"),
        ({"steps": 50}, 0, ""),
        ({"steps": 51}, 0, "50 steps"),
        ({"calls": 249}, 0, ""),
        ({"calls": 250}, 0, "250 tool calls"),
        ({"created_at": 10**13}, 5, ""),
    ],
)
def test_a_budget_is_used_up(fields: dict[str, int], now: int, over: str):
    assert runs.over_budget(Run(run_id="r", **fields), now) == over


@every_backend
def test_a_lease_is_held_by_one_and_ends(database: Database):
    database.run(lambda tx: runs.start(tx, Run(run_id="r")))

    def lease(owner: str, now: int) -> bool:
        return database.run(lambda tx: runs.lease(tx, "r", owner, now, 100))

    assert [lease("a", 0), lease("b", 50), lease("a", 60), lease("b", 159)] == [True, False, True, False]
    assert [lease("b", 160), lease("a", 161)] == [True, False]
    assert database.run(lambda tx: (runs.release(tx, "r", "a"), runs.release(tx, "r", "b"))) == (False, True)
    assert lease("a", 10**12) is True
    assert lease("b", 5) is True  # the clock was set back: a lease from the future is none


@every_backend
def test_steps_follow_each_other_and_a_checkpoint_is_kept_once(database: Database):
    def work(tx: Any) -> list[Any]:
        run = Run(run_id="r")
        runs.start(tx, run)
        first = runs.next_step(tx, "r", 1)
        kept = [runs.checkpoint(tx, run, first.step_id, "pre_read_only", 2, {"n": n}) for n in (1, 2)]
        second = runs.next_step(tx, "r", 3)
        at = [found and found.step_id for time in (0, 2, 3) for found in [runs.step_at(tx, "r", time)]]
        return [first.step_id, kept, second.step_id, at, runs.checkpoints(tx, "r")]

    snapshot = {"status": "running", "steps": 0, "calls": 0, "iteration": 0}
    assert database.run(work) == [
        "r#1",
        [True, False],
        "r#2",
        [None, "r#1", "r#2"],
        [("r#1", "pre_read_only", snapshot)],
    ]


@every_backend
def test_calls_are_replayed_in_their_order_with_two_attempts(database: Database):
    def work(tx: Any) -> list[Any]:
        runs.start(tx, Run(run_id="r"))
        ledger.begin(tx, call(1))
        ledger.begin(tx, call(2))
        queued = [replays.queue(tx, "r", each) for each in ("s/t2", "s/t1", "s/t2", "s/t9")]
        order = []
        while first := replays.first(tx, "r"):
            order.append(first.tool_call_id)
            if first.tool_call_id == "s/t2":
                replays.finish_replay(tx, first)
            else:
                replays.count_attempt(tx, first, 5)
        run = runs.find(tx, "r")
        return [queued, order, run and run.status]

    assert database.run(work) == [[True, True, False, False], ["s/t2", "s/t1", "s/t1"], "waiting_for_human"]


@every_backend
def test_the_chain_finds_nothing_wrong_where_nothing_is(database: Database):
    def fill(tx: Any) -> None:
        for number in range(30):
            add_decision(tx, Row(id=f"d{number}", at=number))
            ledger.begin(tx, call(number))
        ledger.finish(tx, call(3), End(status="succeeded", at=40))

    database.run(fill)
    head = database.run(lambda tx: audit_chain.extend(tx, KEY))
    database.run(lambda tx: ledger.finish(tx, call(4), End(status="failed", at=40)))
    head = database.run(lambda tx: audit_chain.extend(tx, KEY))
    found = database.run(lambda tx: audit_check.verify(tx, KEY, [Anchor(head.count, head.link)], page=7))
    assert (found.is_good, found.links, found.decisions, found.calls, found.waiting) == (True, 92, 30, 30, 0)
    database.run(lambda tx: tx.do("UPDATE tool_calls SET error_detail = 'never happened' WHERE tool_call_id = 's/t4'"))
    found = database.run(lambda tx: audit_check.verify(tx, KEY, [Anchor(head.count, head.link)]))
    assert (found.integrity, found.completeness) == (("tool call `s/t4` was changed",), ())


def chained_by_an_earlier_version(tx: Any) -> audit_chain.Head:
    """No word of segments, and digests of a form that is no longer written."""
    head = audit_chain.Head()
    for number in range(5):
        add_decision(tx, Row(id=f"d{number}", at=number))
        ledger.finish(tx, call(number), End(status="succeeded", at=number))
        for kind, id_ in (("decision", f"d{number}"), ("opened", f"s/t{number}"), ("ended", f"s/t{number}")):
            head = audit_chain._add(tx, KEY, head, kind, id_, audit_chain.mac_of(KEY, "long ago", kind, id_))
    put_meta(tx, "audit_head", f'[5, 5, "{audit_chain.mac_of(KEY, "seen", "5", "5")}"]')
    return head


@every_backend
def test_a_chain_of_an_earlier_version_is_no_alarm_and_goes_on_in_a_segment_of_its_own(database: Database):
    old = database.run(chained_by_an_earlier_version)
    anchors = [Anchor(old.count, old.link)]

    def found() -> Any:
        # This database has no key beside it, so its rows have no seals.
        return replace(database.run(lambda tx: audit_check.verify(tx, KEY, anchors)), unsealed=0)

    assert found() == Findings(links=15, decisions=5, calls=5, waiting=10, earlier=15)
    head = database.run(lambda tx: audit_chain.extend(tx, KEY))
    anchors.append(Anchor(head.count, head.link))
    begins = database.run(lambda tx: audit_chain.entries(tx, 15, 1))[0]
    assert begins.kind == f"segment {audit_chain.FORM} another version made the chain so far"
    assert found() == Findings(links=31, decisions=5, calls=5, waiting=0, earlier=15)
    assert database.run(lambda tx: audit_chain.extend(tx, KEY)) == head
    database.run(lambda tx: tx.do("UPDATE decisions SET verdict = 'deny' WHERE id = 'd3'"))
    database.run(lambda tx: tx.do("DELETE FROM tool_calls WHERE tool_call_id = 's/t2'"))
    assert (found().integrity, found().completeness) == (
        ("decision `d3` was changed",),
        ("tool call `s/t2` is missing",),
    )


@every_backend
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DELETE FROM audit_chain WHERE seq = 16", "links 16 to 16 of the chain are missing"),
        ("DELETE FROM audit_chain WHERE seq > 15", "the chain ends at link 15, but it had 31 before"),
        ("UPDATE audit_chain SET kind = 'segment else why' WHERE seq = 16", "link 16 of the chain was changed"),
        ("UPDATE audit_chain SET digest = 'x' WHERE seq = 3", "link 3 of the chain was changed"),
        ("DELETE FROM audit_chain WHERE seq = 3", "links 3 to 3 of the chain are missing"),
    ],
)
def test_a_segment_cannot_be_taken_away_or_made_into_another(database: Database, change: str, said: str):
    database.run(chained_by_an_earlier_version)
    head = database.run(lambda tx: audit_chain.extend(tx, KEY))
    database.run(lambda tx: tx.do(change))
    found = database.run(lambda tx: audit_check.verify(tx, KEY, [Anchor(head.count, head.link)]))
    assert said in (*found.integrity, *found.completeness)


@every_backend
def test_what_retention_takes_is_not_missed(database: Database):
    day = retention.DAY_MS

    def fill(tx: Any) -> None:
        for number in range(5):
            add_decision(tx, Row(id=f"d{number}", at=number))
            ledger.finish(tx, call(number), End(status="succeeded", at=number))

    database.run(fill)
    database.run(lambda tx: audit_chain.extend(tx, KEY))

    def forget(tx: Any) -> tuple[list[str], list[str]]:
        gone = retention.take_decisions(tx, now=400 * day)
        calls = retention.take_calls(tx, now=400 * day)
        audit_chain.note_expired(tx, KEY, "decision", gone)
        audit_chain.note_expired(tx, KEY, "opened", calls)
        return gone, calls

    gone, calls = database.run(forget)
    assert (len(gone), len(calls)) == (4, 4)
    head = database.run(lambda tx: audit_chain.read_head(tx, KEY))
    anchors = [Anchor(head.count, head.link)]
    assert database.run(lambda tx: audit_check.verify(tx, KEY, anchors)).is_good
    database.run(lambda tx: tx.do("DELETE FROM decisions"))
    found = database.run(lambda tx: audit_check.verify(tx, KEY, anchors))
    assert found.completeness == ("decision `d4` is missing",)


@every_backend
def test_a_ledger_of_a_newer_version_is_read_and_not_written(make: Make):
    first = make("a")
    first.run(lambda tx: ledger.begin(tx, call(1)))
    first.run(lambda tx: put_meta(tx, "schema", "999"))
    first.close()
    again = make("a")
    assert again.run(lambda tx: len(ledger.recent(tx))) == 1
    with pytest.raises(StoreError, match="newer Snell"):
        again.run(lambda tx: ledger.begin(tx, call(2)))
    again.close()
