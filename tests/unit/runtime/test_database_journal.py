"""The journal in the database: a row before the answer, a redacted trace after it, and neither delays a caller."""

from pathlib import Path
from typing import Any

import pytest

from snell.engine.explain import explain
from snell.model.decision import Decision
from snell.model.effects import Deny, Rewrite, Verdict
from snell.model.errors import StoreError
from snell.model.protocols import Database, Transaction
from snell.records import decisions
from snell.runtime.app import Runtime
from snell.runtime.database_journal import StoreJournal
from snell.runtime.stored_marks import StoredMarks
from snell.runtime.trace_json import LONGEST_BODY
from snell.store.sqlite import SqliteDatabase
from snell.testing.store_contract import do
from tests.helpers import call, hook

TOKEN = "gh" + "p_q7Rz2Lw9Xk4Tn8Vb3Hd6Jm1Pc5Yg0Fsq7Rz"


@pytest.fixture
def database(tmp_path: Path) -> SqliteDatabase:
    return SqliteDatabase(tmp_path / "state" / "snell.db")


class Failing:
    """A database that can be broken and mended."""

    def __init__(self, inner: Database) -> None:
        self.inner = inner
        self.is_broken = False

    def run(self, work: Any, **how: Any) -> Any:
        if self.is_broken:
            raise StoreError("cannot be written: the disk is full", advice="free some space")
        return self.inner.run(work, **how)

    def close(self) -> None:
        self.inner.close()


def runtime_on(database: Database, *hooks: Any) -> Runtime:
    return Runtime.embed(*hooks, marks=StoredMarks(database), journal=StoreJournal(database))


@pytest.mark.proves("S1-134")
def test_a_rewrite_is_recorded_with_hashes_by_which_its_redacted_values_can_be_told_apart(
    database: SqliteDatabase,
) -> None:
    other = TOKEN.replace("q7", "z9")
    for command in (TOKEN, other):
        runtime_on(database, hook("tidy", Rewrite(command="ls"), role="rewrites")).decide(call(f"login {command}"))
    records = [StoreJournal(database).find(row.id) for row in do(database, decisions.recent)]
    changes = [change for record in records for change in record["changes"]]
    assert [TOKEN in str(change) or other in str(change) for change in changes] == [False, False]
    assert len({change["before_hash"] for change in changes}) == 2
    assert len({change["after_hash"] for change in changes}) == 1
    assert all(len(change["after_hash"]) == 32 for change in changes)


def test_a_decision_is_a_row_at_once_and_a_record_afterwards(database: SqliteDatabase) -> None:
    runtime = runtime_on(database, hook("no", Deny("not here"), role="judges"))
    decision = runtime.decide(call("rm x", tool_use_id="t1"), "r1")
    runtime.close()
    (row,) = do(database, decisions.recent)
    assert (row.id, row.session_id, row.client, row.event, row.tool) == (
        decision.id,
        "s1",
        "generic",
        "PreToolUse",
        "Bash",
    )
    assert (row.tool_use_id, row.verdict, row.rewritten, row.failures, len(row.request_key)) == ("t1", "deny", 0, 0, 64)
    journal = StoreJournal(database)
    record = journal.find("last")
    assert record == journal.find(decision.id) == journal.find(decision.id[:13])
    assert (record["verdict"], record["reason"], record["value"]) == ("deny", "not here", {"command": "rm x"})
    assert "not here" in explain(record)
    assert [each.id for each in journal.recent(hook="no", session="s1", verdict="deny")] == [decision.id]
    assert journal.recent(hook="other") == []


def test_a_row_without_details_can_be_asked_about(database: SqliteDatabase) -> None:
    journal = StoreJournal(database)
    journal.commit(Decision(event=call(), id="1a-x", verdict=Verdict.DENY), "key")
    assert journal.find() == {
        "id": "1a-x",
        "client": "generic",
        "event": "PreToolUse",
        "session_id": "s1",
        "tool": "Bash",
        "verdict": "deny",
        "problems": ["the details of this decision were not kept"],
    }


def test_a_record_needs_no_commit_before_it(database: SqliteDatabase) -> None:
    journal = StoreJournal(database)
    journal.record({"id": "1a-x", "event": "Stop", "session_id": "s", "verdict": "deny", "failures": [{"hook": "h"}]})
    (row,) = journal.recent()
    assert (row.event, row.session_id, row.verdict, row.failures) == ("Stop", "s", "deny", 1)


def test_what_comes_late_joins_the_record_even_when_it_is_first(database: SqliteDatabase) -> None:
    journal = StoreJournal(database)
    journal.commit(Decision(event=call(), id="1a-x"))
    journal.add_late("1a-x", {"hook": "quick", "status": "success"})
    journal.record({"id": "1a-x", "event": "PreToolUse"})
    journal.add_late("1a-x", {"hook": "slow", "note": f"found {TOKEN}"})
    journal.add_late("", {"hook": "absent"})
    journal.add_late("1a-gone", {"hook": "absent"})
    assert journal.find() == {
        "id": "1a-x",
        "event": "PreToolUse",
        "late": [{"hook": "quick", "status": "success"}, {"hook": "slow", "note": "found [redacted:github-token]"}],
    }
    assert journal.problem == ""


def test_asking_for_what_is_not_there_says_what_to_do(database: SqliteDatabase) -> None:
    journal = StoreJournal(database)
    with pytest.raises(StoreError, match="no decision has been made yet; make one with `snell fire"):
        journal.find()
    with pytest.raises(StoreError, match="there is no decision `zz`; `snell log` lists them"):
        journal.find("zz")


def test_no_secret_reaches_the_disk(database: SqliteDatabase) -> None:
    secrets = [f"{TOKEN[:-4]}{number:04}" for number in range(500)]
    runtime = runtime_on(database, hook("no", lambda event: Deny(f"no {event.tool_input['command']}"), role="judges"))
    for number, secret in enumerate(secrets):
        event = call(
            f"curl -H 'Authorization: Bearer {secret}' https://u:{secret}@h",
            tool_use_id=f"t{number}",
            env={"API_TOKEN": secret, "PASSWORD": f"plain{secret[-6:]}"},
        )
        runtime.decide(event)
    runtime.store.put("session:s1", "held_notes", [["event", "h", f"use {secrets[0]}"]])
    assert runtime.store.get("session:s1", "held_notes") == [["event", "h", f"use {secrets[0]}"]]
    runtime.close()
    database.checkpoint()
    database.path.with_name("copy.db").write_bytes(database.path.read_bytes())
    found = b"".join(each.read_bytes() for each in database.path.parent.iterdir())
    assert len(found) > 100_000
    assert (TOKEN[:20].encode() in found, b"plain" in found) == (False, False)


def test_a_secret_is_found_in_records_that_are_like_earlier_ones(database: SqliteDatabase) -> None:
    runtime = runtime_on(database)
    commands = ["login now", f"login {TOKEN}", "login now", f"login {TOKEN}"]
    ids = [runtime.decide(call(command, tool_use_id=f"t{number}")).id for number, command in enumerate(commands)]
    runtime.close()
    values = [StoreJournal(database).find(each)["value"] for each in ids]
    assert values[0] == values[2] == {"command": "login now"}
    assert values[1] == values[3]
    assert TOKEN not in str(values)


@pytest.mark.parametrize("broken", [ZeroDivisionError("oops"), RecursionError(), StoreError("odd")])
def test_a_redactor_that_fails_costs_the_body_and_keeps_the_rest(database: SqliteDatabase, broken: Exception) -> None:
    def fails(value: Any) -> Any:
        raise broken

    journal = StoreJournal(database, fails)
    journal.commit(Decision(event=call(), id="1a-x"))
    journal.record({"id": "1a-x", "event": "PreToolUse", "verdict": "deny", "value": {"command": TOKEN}})
    journal.add_late("1a-x", {"hook": "late", "note": TOKEN})
    dropped = "the details could not be redacted, so they were not kept"
    assert journal.find() == {
        "id": "1a-x",
        "event": "PreToolUse",
        "verdict": "deny",
        "problems": [dropped],
        "late": [{"hook": "late", "remarks": [dropped]}],
    }


def test_a_record_that_holds_itself_costs_the_body_only(database: SqliteDatabase) -> None:
    loop: dict[str, Any] = {"id": "1a-x", "event": "Stop"}
    loop["loop"] = loop
    journal = StoreJournal(database)
    journal.record(loop)
    assert journal.find()["problems"] == ["the details could not be redacted, so they were not kept"]


def test_odd_values_are_kept_as_text(database: SqliteDatabase) -> None:
    journal = StoreJournal(database)
    journal.record(
        {"id": "1a-x", "event": "Stop", "value": {"path": Path("/x"), "half": "\ud800", "nan": float("nan")}}
    )
    assert journal.find()["value"] == {"path": "/x", "half": "?", "nan": None}


def test_a_huge_record_is_cut_and_an_enormous_one_dropped(database: SqliteDatabase) -> None:
    journal = StoreJournal(database)
    journal.record({"id": "1a-1", "event": "Stop", "value": "x" * 10_000_000})
    assert journal.find()["value"].endswith("x… [9934464 more characters]")
    journal.record({"id": "1a-2", "event": "Stop", "value": ["x" * 60_000] * (LONGEST_BODY // 50_000)})
    assert journal.find() == {
        "id": "1a-2",
        "event": "Stop",
        "problems": ["the details took 1,200,098 bytes, so they were not kept"],
    }


def test_ids_from_outside_cannot_smuggle_text_in(database: SqliteDatabase) -> None:
    journal = StoreJournal(database)
    for number, session in enumerate(("../../etc/passwd", "x" * 500, "new\nline", "nul\x00", "half \ud800")):
        journal.commit(Decision(event=call(session_id=session), id=f"1a-{number}"))
        assert journal.problem == ""
        (row,) = journal.recent(session=session)
        assert row.id == f"1a-{number}"
        assert len(row.session_id) <= 128


def test_hashes_are_the_same_after_a_restart_and_differ_between_machines(tmp_path: Path) -> None:
    found = []
    for place in ("one", "one", "two"):
        database = SqliteDatabase(tmp_path / place / "snell.db")
        journal = StoreJournal(database)
        change = {"field": "command", "before": "ls", "after": "ls -l"}
        journal.record({"id": f"1a-{len(found)}", "event": "PreToolUse", "changes": [change]})
        (kept,) = journal.find()["changes"]
        found.append((kept["before_hash"], kept["after_hash"]))
        database.close()
    assert found[0] == found[1]
    assert {len(text) for pair in found for text in pair} == {32}
    assert set(found[2]).isdisjoint(found[0])


def test_what_could_not_be_written_is_written_when_it_can_be(database: SqliteDatabase) -> None:
    failing = Failing(database)
    journal = StoreJournal(failing)
    failing.is_broken = True
    for number in range(3):
        journal.commit(Decision(event=call(), id=f"1a-{number}"))
        journal.record({"id": f"1a-{number}", "event": "PreToolUse"})
    said = "the journal could not be written: cannot be written: the disk is full; free some space"
    assert journal.problem == said
    failing.is_broken = False
    journal.commit(Decision(event=call(), id="1a-9"))
    assert ([row.id for row in journal.recent()], journal.problem) == (["1a-9", "1a-2", "1a-1", "1a-0"], "")


def test_a_row_is_there_before_anything_else_is_done(database: SqliteDatabase) -> None:
    """Another connection sees it, so it is committed and not only begun."""
    journal = StoreJournal(database)
    journal.commit(Decision(event=call(), id="1a-x"))
    other = SqliteDatabase(database.path)
    assert other.run(_ids) == ["1a-x"]
    other.close()


def _ids(tx: Transaction) -> list[str]:
    return [row.id for row in decisions.recent(tx)]
