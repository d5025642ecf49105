"""What the ledger tells apart: interrupted calls, places, repeated requests, late ends, a database that was lost."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.records import lost_ledger
from tests.ledger_client import LedgerClient

Open = Callable[..., LedgerClient]


@pytest.fixture
def ledger_client(tmp_path: Path) -> Iterator[Open]:
    opened: list[LedgerClient] = []

    def make(mode: str = "durable", **options: Any) -> LedgerClient:
        opened.append(LedgerClient(tmp_path, mode, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def said(decision: Decision) -> str:
    return " ".join(reason.text for reason in decision.reasons)


@pytest.mark.parametrize("response", [{"interrupted": True, "stdout": "Counting objects"}, {"interrupted": True}])
def test_a_command_that_was_interrupted_did_not_succeed(ledger_client: Open, response: dict[str, Any]):
    at = ledger_client()
    given = {"command": "git push"}
    at.before("t1", tool="Bash", given=given)
    at.after("t1", response, tool="Bash", given=given)
    assert at.statuses() == {"t1": "failed"}
    assert at.before("t2", tool="Bash", given=given).verdict is Verdict.NO_OPINION


def test_the_same_line_in_another_directory_is_another_call(ledger_client: Open):
    at = ledger_client()
    given = {"command": "git push"}

    def push(number: str, cwd: str) -> Verdict:
        verdict = at.before(number, tool="Bash", given=given, cwd=cwd).verdict
        if verdict is not Verdict.DENY:
            at.after(number, {"stdout": "pushed"}, tool="Bash", given=given, cwd=cwd)
        return verdict

    assert [push("t1", "/a"), push("t2", "/b")] == [Verdict.NO_OPINION, Verdict.NO_OPINION]
    assert [push("t3", "/a"), push("t4", "/b"), push("t5", "/b")] == [Verdict.DENY] * 3
    # Nor does it happen twice there once the first directory's key is free again.
    at.database.run(lambda tx: tx.do("DELETE FROM tool_claims WHERE place = '/a'"))
    assert push("t6", "/b") is Verdict.DENY
    assert push("t7", "/a") is Verdict.NO_OPINION


def test_other_tools_do_the_same_thing_in_every_directory(ledger_client: Open):
    at = ledger_client()
    at.before("t1", cwd="/a")
    at.after("t1", {"id": 1}, cwd="/a")
    assert at.before("t2", cwd="/b").verdict is Verdict.DENY


def test_a_call_that_succeeded_is_not_allowed_when_it_is_delivered_again(ledger_client: Open):
    at = ledger_client()
    at.before("t1")
    at.after("t1", {"id": "m1"})
    for _ in range(2):
        at.runtime.decided._known.clear()  # as after a restart
        again = at.before("t1")
        assert (again.verdict, "succeeded, so it is not done twice" in said(again)) == (Verdict.DENY, True)
    assert at.statuses() == {"t1": "succeeded"}
    assert at.before("t2").verdict is Verdict.DENY


@pytest.mark.parametrize("mode", ["audit", "durable"])
def test_an_end_that_comes_after_a_resume_counts(ledger_client: Open, mode: str):
    at = ledger_client(mode)
    at.before("t1")
    at.tell("SessionStart", source="resume")
    assert at.statuses() == {"t1": "abandoned_on_resume"}
    at.after("t1", {"id": "m1"})
    assert at.statuses() == {"t1": "succeeded"}
    at.tell("SessionStart", source="resume")
    assert at.statuses() == {"t1": "succeeded"}


@pytest.mark.parametrize("how", ["damaged", "removed"])
def test_after_a_loss_runs_that_may_be_older_wait_for_a_person(ledger_client: Open, tmp_path: Path, how: str):
    at = ledger_client()
    at.before("t1")
    at.after("t1", {"id": "m1"})
    at.close()
    for file in (tmp_path / "state").iterdir():
        file.write_bytes(b"damaged" * 1000) if how == "damaged" else file.unlink()
    if how == "removed":
        (tmp_path / "state" / "audit.anchor").write_text("1 link\n")
    at = ledger_client()
    told = at.tell("SessionStart", source="resume")
    assert "`snell ledger release lost`" in " ".join(each.text for each in told.tells)
    for number in ("t2", "t3"):
        again = at.before(number)
        assert (again.verdict, "the ledger was lost" in said(again)) == (Verdict.DENY, True)
    assert at.before("t4", tool="Read", given={"file_path": "/a"}).verdict is Verdict.NO_OPINION
    at.tell("SessionStart", source="startup", session_id="new")
    assert at.before("t5", session_id="new").verdict is Verdict.NO_OPINION
    assert at.before("t6", session_id="new").verdict is Verdict.DENY
    assert at.database.run(lost_ledger.acknowledge_loss)
    assert at.before("t7").verdict is Verdict.NO_OPINION


@pytest.mark.proves("S3-45")
def test_with_no_limit_a_call_without_an_end_is_refused_for_ever(ledger_client: Open):
    at = ledger_client(running_minutes=0)
    at.before("t1")
    at.database.run(lambda tx: tx.do("UPDATE tool_claims SET at = at - ?", 60 * 24 * 60_000))
    assert at.before("t2").verdict is Verdict.DENY


def test_a_user_decides_about_a_call_without_a_known_end(ledger_client: Open):
    first = ledger_client()
    first.before("t1")
    first.close()
    again = ledger_client()
    told = again.tell("SessionStart", source="resume")
    assert "For 1 earlier tool calls it is unknown whether they happened (t1)" in told.notes[0].text
    asked = again.before("t2")
    assert (asked.verdict, "it is unknown whether it happened" in said(asked)) == (Verdict.ASK, True)
    again.after("t2", {"id": "m2"})
    assert again.statuses() == {"t1": "abandoned_on_resume", "t2": "succeeded"}
    assert again.before("t3").verdict is Verdict.DENY


def test_after_a_compaction_nothing_is_abandoned(ledger_client: Open):
    at = ledger_client("audit")
    at.before("t1")
    at.tell("SessionStart", source="compact")
    assert at.statuses() == {"t1": "running"}
    at.tell("SessionStart", source="resume")
    assert at.statuses() == {"t1": "abandoned_on_resume"}
