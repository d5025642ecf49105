"""Every tool call once; and in durable mode no side effect twice."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from snell.model.decision import Decision
from snell.model.effects import Deny, Rewrite, Verdict
from snell.model.errors import StoreError
from snell.records import ledger, orphaned_calls
from snell.records.decisions import Row
from snell.sdk.decorators import hooks_of, judges, rewrites
from snell.store.sqlite import SqliteDatabase
from tests.ledger_client import LETTER, MAIL, LedgerClient

Open = Callable[..., LedgerClient]


@pytest.fixture
def ledger_client(tmp_path: Path) -> Iterator[Open]:
    opened: list[LedgerClient] = []

    def make(mode: str = "durable", *more: Any, **options: Any) -> LedgerClient:
        opened.append(LedgerClient(tmp_path, mode, *more, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def said(decision: Decision) -> str:
    return " ".join(reason.text for reason in decision.reasons)


@pytest.mark.proves("S3-02", "S3-33", "S3-34", "S3-35", "S3-36", "S3-37")
@pytest.mark.parametrize("mode", ["audit", "durable"])
def test_every_call_is_written_down_once_with_all_that_is_known_of_it(ledger_client: Open, mode: str):
    at = ledger_client(mode)
    secret = {**LETTER, "body": "password=hunter2hunter2"}
    at.before("t1", given=secret, agent_id="helper")
    at.after("t1", {"id": "m-7", "ok": True}, given=secret, duration_ms=161)
    at.before("t2", tool="Read", given={"file_path": "/a"})
    at.failed("t2", "no such file", tool="Read", given={"file_path": "/a"}, is_interrupt=True)
    first, second = at.calls().values()
    assert (first.status, first.duration_ms, first.side_effect_class, first.external_correlation_id) == (
        "succeeded", 161, "external", "m-7",
    )  # fmt: skip
    assert (first.session_id, first.agent_id, first.tool_name, first.tool_namespace) == (
        "s",
        "helper",
        "send_email",
        "mcp",
    )
    assert "hunter2" not in at.body(first.request_ref)
    assert json.loads(at.body(first.response_ref)) == {"id": "m-7", "ok": True}
    assert (second.status, second.error_code, second.error_detail) == ("failed", "interrupted", "no such file")
    assert at.database.run(lambda tx: tx.rows("SELECT COUNT(*) FROM tool_calls")) == [(2,)]


@pytest.mark.proves("S3-36")
def test_a_call_that_its_client_does_not_time_lasts_from_before_to_after(ledger_client: Open):
    at = ledger_client("audit")
    at.before("t1")
    at.database.run(lambda tx: tx.do("UPDATE tool_calls SET started_at = started_at - 500"))
    at.after("t1", {})
    assert 500 <= at.calls()["t1"].duration_ms < 60_000


def test_a_row_that_was_caught_up_from_the_decision_gets_its_details_with_the_end(ledger_client: Open):
    """Else a call that only reads would be taken for one with a side effect, and refused the next time."""
    at = ledger_client("durable")
    given = {"file_path": "/a"}
    at.before("t0", tool="Read", given=given)
    at.before("t1", tool="Read", given=given)
    usual = at.calls()["t1"]
    at.database.run(lambda tx: tx.do("DELETE FROM tool_calls WHERE tool_call_id = ?", usual.tool_call_id))
    row = Row(id=usual.decision_id, at=usual.created_at, session_id="s", tool="Read", tool_use_id="t1", in_ledger=1)
    at.database.run(lambda tx: orphaned_calls.add_missing_calls(tx, [row]))
    at.after("t1", {}, tool="Read", given=given)
    found = at.calls()["t1"]
    kept = ("idempotency_key", "side_effect_class", "normalized_args_hash", "decision_id", "created_at", "request_ref")
    assert [getattr(found, name) for name in kept] == [getattr(usual, name) for name in kept]
    assert (found.status, at.before("t2", tool="Read", given=given).verdict) == ("succeeded", Verdict.NO_OPINION)


@pytest.mark.proves("S3-36")
@pytest.mark.parametrize("jump", [99_999_999, -99_999_999])
def test_a_clock_that_jumps_makes_no_call_shorter_or_longer(ledger_client: Open, jump: int):
    at = ledger_client("audit")
    at.before("t1")
    at.database.run(lambda tx: tx.do("UPDATE tool_calls SET started_at = started_at + ?", jump))
    at.after("t1", {})
    assert 0 <= at.calls()["t1"].duration_ms < 60_000


def test_an_end_without_a_beginning_is_a_call_too(ledger_client: Open):
    at = ledger_client("audit")
    at.after("t1", {"ok": 1}, duration_ms=40)
    call = at.calls()["t1"]
    assert (call.status, call.duration_ms, call.finished_at - call.started_at) == ("succeeded", 40, 40)


def test_a_client_that_does_not_number_its_calls_has_each_once(ledger_client: Open):
    at = ledger_client("audit")
    for _ in range(2):
        at.before("")
        at.after("", {})
    assert [call.status for call in at.calls().values()] == ["succeeded", "succeeded"]


def test_a_call_that_was_refused_is_written_down_as_refused(ledger_client: Open):
    @judges("PreToolUse")
    def no() -> Deny:
        return Deny("no")

    at = ledger_client("audit", *hooks_of([no]))
    at.before("t1")
    assert at.statuses() == {"t1": "denied"}


def test_a_call_that_the_client_itself_refuses_is_free_again(ledger_client: Open):
    at = ledger_client()
    at.before("t1")
    at.tell("PermissionDenied", tool_name=MAIL, tool_input=LETTER, tool_use_id="t1", reason="no")
    assert at.before("t2").verdict is Verdict.NO_OPINION
    assert at.statuses() == {"t1": "denied", "t2": "running"}


@pytest.mark.proves("S3-30", "S3-32")
@pytest.mark.parametrize("tool", ["Bash", "execute_bash_command"])
def test_what_a_shell_call_will_create_is_noted_before_and_confirmed_after(
    ledger_client: Open, tool: str, tmp_path: Path
):
    at = ledger_client("audit")
    given = {"command": "touch made; echo x > never/there"}
    assert at.before("t1", tool=tool, given=given).verdict is Verdict.NO_OPINION
    assert json.loads(at.calls()["t1"].intent) == ["made", "never/there"]
    (tmp_path / "made").touch()
    at.after("t1", {"stdout": ""}, tool=tool, given=given)
    call = at.calls()["t1"]
    assert (json.loads(call.confirmed), call.side_effect_class) == (["made"], "local")


@pytest.mark.proves("S3-43")
def test_a_side_effect_that_succeeded_is_refused_with_the_beginning_of_its_receipt(ledger_client: Open):
    at = ledger_client()
    assert at.before("t1").verdict is Verdict.NO_OPINION
    at.after("t1", {"id": "m1", "text": "y" * 2_000})
    again = at.before("t2", given=dict(reversed(LETTER.items())))
    assert again.verdict is Verdict.DENY
    assert f'succeeded, so it is not done twice. Its result: {{"id":"m1","text":"{"y" * 481}' in said(again)
    assert "y" * 482 not in said(again)
    assert at.statuses() == {"t1": "succeeded", "t2": "denied"}
    assert at.before("t3", given={**LETTER, "subject": "another"}).verdict is Verdict.NO_OPINION
    assert at.before("t4", session_id="another").verdict is Verdict.NO_OPINION


@pytest.mark.proves("S3-44")
def test_a_look_may_be_had_again_under_a_key_of_its_own(ledger_client: Open):
    at = ledger_client()
    for number in ("t1", "t2"):
        assert at.before(number, tool="Read", given={"file_path": "/a"}).verdict is Verdict.NO_OPINION
    keys = {call.idempotency_key for call in at.calls().values()}
    assert len(keys) == 2


@pytest.mark.proves("S3-45")
def test_what_failed_may_be_tried_again_and_what_runs_may_not(ledger_client: Open):
    at = ledger_client()
    at.before("t1")
    running = at.before("t2")
    assert (running.verdict, said(running)) == (Verdict.DENY, f"the same call of `{MAIL}` is still running")
    at.failed("t1", "timed out")
    assert at.before("t3").verdict is Verdict.NO_OPINION
    call = at.calls()["t3"]
    assert (call.attempt, call.status) == (2, "running")


@pytest.mark.proves("S3-45")
@pytest.mark.parametrize("minutes", [11, -11, 60 * 24 * 3650])
def test_of_what_runs_longer_than_any_client_allows_a_person_decides(ledger_client: Open, minutes: int):
    at = ledger_client()
    at.before("t1")
    at.database.run(lambda tx: tx.do("UPDATE tool_claims SET at = at - ?", minutes * 60_000))
    asked = at.before("t2")
    assert (asked.verdict, "it is unknown whether it happened" in said(asked)) == (Verdict.ASK, True)


@pytest.mark.proves("S3-35")
@pytest.mark.parametrize(("cap", "is_cut"), [(100, True), (1_000_000, False)])
def test_the_cap_of_what_is_stored_of_an_output_can_be_set(ledger_client: Open, cap: int, is_cut: bool):
    at = ledger_client(most_characters=cap)
    at.before("t1", tool="Bash", given={"command": "seq 99999"})
    at.after("t1", "1234567 " * 50_000, tool="Bash", given={"command": "seq 99999"})
    reference = at.calls()["t1"].response_ref
    stored, _ = at.database.run(lambda tx: ledger.body(tx, reference))
    assert (len(stored) < 1_000, len(stored) >= 400_000) == (is_cut, not is_cut)


@pytest.mark.proves("S3-46")
def test_a_sub_agent_starts_anew_every_time(ledger_client: Open):
    at = ledger_client()
    for number in ("t1", "t2"):
        assert at.before(number, tool="Task", given={"prompt": "x"}).verdict is Verdict.NO_OPINION
        at.after(number, "done", tool="Task", given={"prompt": "x"})
    assert [call.replay_policy for call in at.calls().values()] == ["RELAUNCH", "RELAUNCH"]


@pytest.mark.parametrize("command", ["pytest -q", "make build > log.txt", "ls"])
def test_tests_and_builds_are_run_again(ledger_client: Open, command: str):
    at = ledger_client()
    for number in ("t1", "t2"):
        assert at.before(number, tool="Bash", given={"command": command}).verdict is Verdict.NO_OPINION
        at.after(number, {"stdout": "ok"}, tool="Bash", given={"command": command})


def test_the_same_push_is_refused(ledger_client: Open):
    at = ledger_client()
    given = {"command": "git push origin main"}
    at.before("t1", tool="Bash", given=given)
    at.after("t1", {"stdout": "pushed"}, tool="Bash", given=given)
    assert at.before("t2", tool="Bash", given=given).verdict is Verdict.DENY


def test_the_same_delivery_again_is_the_same_call(ledger_client: Open):
    at = ledger_client()
    at.before("t1")
    at.runtime.decided._known.clear()  # as after a restart
    assert at.before("t1").verdict is Verdict.NO_OPINION


@pytest.mark.proves("S3-06")
def test_what_is_claimed_is_what_runs_after_rewriting(ledger_client: Open):
    @rewrites("PreToolUse")
    def other() -> Rewrite:
        return Rewrite(subject="rewritten")

    at = ledger_client("durable", *hooks_of([other]))
    at.before("t1")
    at.after("t1", {"id": 1}, given={**LETTER, "subject": "rewritten"})
    assert at.statuses() == {"t1": "succeeded"}
    assert at.before("t2", given={**LETTER, "subject": "anything"}).verdict is Verdict.DENY


def test_a_call_that_another_hook_refused_was_not_made(ledger_client: Open):
    answers = iter([Deny("not yet"), None])

    @judges("PreToolUse")
    def later() -> Deny | None:
        return next(answers)

    at = ledger_client("durable", *hooks_of([later]))
    assert at.before("t1").verdict is Verdict.DENY
    assert at.before("t2").verdict is Verdict.NO_OPINION


@pytest.mark.proves("S3-38")
def test_the_ledger_outlives_its_process(ledger_client: Open):
    first = ledger_client()
    first.before("t1")
    first.after("t1", {"id": "m1"})
    first.close()
    again = ledger_client()
    assert again.statuses() == {"t1": "succeeded"}
    assert again.before("t2").verdict is Verdict.DENY


@pytest.mark.proves("S3-51")
def test_a_ledger_that_cannot_be_written_closes_durable_mode_and_not_audit_mode(tmp_path: Path):
    class Full(SqliteDatabase):
        def run(self, work: Any, **how: Any) -> Any:
            raise StoreError("cannot be written: the disk is full", where="`db`", advice="free some space")

        def do(self, sql: str, *values: Any) -> int:
            return self.run(None)  # type: ignore[no-any-return] # it raises

    verdicts = {}
    for mode in ("audit", "durable"):
        at = LedgerClient(tmp_path / mode, mode)
        at.runtime.contexts.base = replace(at.runtime.contexts.base, database=Full(tmp_path / "x.db"))
        decision = at.before("t1")
        verdicts[mode] = (decision.verdict, said(decision))
        if mode == "durable":
            told = at.after("t1", {"ok": 1}).tells
            assert "the ledger could not store the result" in told[0].text
        at.close()
    why = "`db`: cannot be written: the disk is full; free some space"
    assert verdicts == {
        "audit": (Verdict.NO_OPINION, ""),
        "durable": (
            Verdict.DENY,
            f"the ledger cannot record this call, and in durable mode no call runs unless it is recorded: {why}",
        ),
    }


@pytest.mark.proves("S3-48")
def test_rules_come_from_overlays_before_the_base_and_are_read_again(ledger_client: Open, tmp_path: Path):
    overlay = tmp_path / "rules.yaml"
    at = ledger_client("durable", policies=[str(overlay)])
    closed = at.before("t0")
    assert (closed.verdict, "rules.yaml" in said(closed)) == (Verdict.DENY, True)
    write(overlay, 'rule:\n  - {id: mail, tool: "send_.*", side_effects: external, replay: REPLAY_IDEMPOTENT}\n', 1)
    for number in ("t1", "t2"):
        assert at.before(number).verdict is Verdict.NO_OPINION
        at.after(number, {"id": number})
    assert at.calls()["t2"].policy_rule_id == "mail"
    write(overlay, "rule: []\n", 2)
    assert at.before("t3").verdict is Verdict.DENY
    for number, wrong in enumerate(("rule: [{id: x}]", "rules: []", "{", 'rule: [{id: x, tool: "("}]', "\xff"), 3):
        write(overlay, wrong, number)
        refused = at.before(f"w{number}", given={**LETTER, "subject": str(number)})
        assert (refused.verdict, "the ledger's rules cannot be used" in said(refused)) == (Verdict.DENY, True)


def test_a_file_of_rules_beside_the_settings_counts(ledger_client: Open, tmp_path: Path):
    (tmp_path / "ledger.toml").write_text(
        '[[rule]]\nid = "all"\ntool = ".*"\nside_effects = "read_only"\n', encoding="utf-8"
    )
    at = ledger_client("audit")
    at.before("t1")
    assert (at.calls()["t1"].side_effect_class, at.calls()["t1"].policy_matched) == ("read_only", 1)


SECRET_PAGE = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY9"
LARGE: dict[str, Any] = {
    "text": f"it is {SECRET_PAGE} " + "x" * 3_000_000,
    "key": "-----BEGIN RSA PRIVATE KEY-----\n" + "TOPSECRETx" * 400 + "\n-----END RSA PRIVATE KEY-----" + "y" * 100_000,
    "fields": {"n": "z" * 100_000, "password": "TOPSECRET", "list": [{"password": "TOPSECRET"}] * 5_000},
    "file": {"content": "TOPSECRET " * 10_000, "filePath": "/home/me/.env"},
    "table": {"content": "TOPSECRET", **{f"k{number}": "v" for number in range(5_000)}, "file_path": "/x/.env"},
}


@pytest.mark.parametrize("name", LARGE)
def test_the_preview_of_something_large_is_its_beginning_without_its_secrets(ledger_client: Open, name: str):
    at = ledger_client()
    at.before("t1")
    at.after("t1", LARGE[name])
    again = said(at.before("t2"))
    assert "not done twice. Its result: " in again
    assert not any(secret in again for secret in ("wJalrXUtnFEMI", "TOPSECRET"))
    assert len(again) < 700


_TWICE = {"x": [1] * 100}
BAD = {
    "ten megabytes": {"stdout": "x" * 10_000_000},
    "binary": {"stdout": "\0\x01\ud800" * 1_000},
    "deep": json.loads("[" * 90 + "]" * 90),
    "like itself": {"a": _TWICE, "b": _TWICE, "c": [_TWICE] * 50},
    "nothing": None,
    "a number": 7,
    "a list": [{"type": "text", "text": '{"id": "x9"}'}],
}


@pytest.mark.parametrize("mode", ["audit", "durable"])
@pytest.mark.parametrize("name", BAD)
def test_whatever_a_tool_brings_its_call_is_written_down(ledger_client: Open, mode: str, name: str):
    at = ledger_client(mode)
    at.before("t1")
    at.after("t1", BAD[name])
    call = at.calls()["t1"]
    assert call.status == "succeeded"
    assert len(at.body(call.response_ref)) <= 2 * ledger.LONGEST_BODY + 100
    if name == "ten megabytes":
        size = at.database.run(lambda tx: ledger.body(tx, call.response_ref))
        assert size is not None
        assert size[1] > 10_000_000
    if name == "a list":
        assert call.external_correlation_id == "x9"


@pytest.mark.parametrize("given", [None, [], "text", {"x": "\ud800"}, {"k": "v" * 2_000_000}])
def test_whatever_a_tool_is_given_its_call_is_written_down(ledger_client: Open, given: Any):
    at = ledger_client()
    at.tell("PreToolUse", tool_name="odd tool\0name", tool_input=given, tool_use_id="../../x\n", session_id="s/../t")
    assert [call.status for call in at.calls().values()] == ["running"]


def write(path: Path, text: str, second: int) -> None:
    path.write_text(text, encoding="latin-1")
    os.utime(path, (second, second))
