"""A run stays within its bounds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from snell.embed import ToolRunner
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.events import persistent_scope
from snell.records import ledger, replays
from snell.system.wall_clock import now_ms
from snell.work import runs
from snell.work.runs import Run
from tests.ledger_client import LETTER, MAIL, LedgerClient

DAY = 86_400_000


@pytest.fixture
def ledger_client(tmp_path: Path) -> Iterator[LedgerClient]:
    at = LedgerClient(tmp_path, "durable", packs=("runs", "tool_inputs"))
    at.runtime.store.put(persistent_scope("s"), runs.MARK, "r")
    yield at
    at.close()


def begin(at: LedgerClient, **fields: Any) -> None:
    at.database.run(lambda tx: runs.start(tx, Run(**{"run_id": "r", "created_at": now_ms(), **fields})))


def run_of(at: LedgerClient) -> Run:
    found = at.database.run(lambda tx: runs.find(tx, "r"))
    assert found is not None
    return found


def refusal(decision: Decision) -> str:
    assert decision.verdict is Verdict.DENY
    return decision.reasons[0].text


def test_without_a_run_nothing_is_asked(ledger_client: LedgerClient):
    assert ledger_client.before("t1").verdict is Verdict.NO_OPINION
    assert ledger_client.before("t2", session_id="other").verdict is Verdict.NO_OPINION


@pytest.mark.proves("S3-52")
def test_after_a_request_to_cancel_no_tool_runs(ledger_client: LedgerClient):
    begin(ledger_client)
    assert ledger_client.before("t1").verdict is Verdict.NO_OPINION
    ledger_client.database.run(lambda tx: runs.cancel(tx, "r", 1, "enough"))
    assert refusal(ledger_client.before("t2", tool="Read", given={"file_path": "/a"})) == "run `r` is cancelled: enough"


@pytest.mark.proves("S3-75")
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"created_at": 0, "max_minutes": 90}, "90 minutes"),
        ({"steps": 51}, "50 steps"),
        ({"calls": 250}, "250 tool calls"),
    ],
)
def test_a_run_that_has_used_up_its_budget_ends(ledger_client: LedgerClient, fields: dict[str, int], why: str):
    begin(ledger_client, **fields)
    assert refusal(ledger_client.before("t1")) == f"run `r` has used up its {why}"
    assert run_of(ledger_client).status == "failed"
    assert refusal(ledger_client.before("t2")) == "run `r` has ended (failed)"


def test_calls_and_steps_are_counted(ledger_client: LedgerClient):
    begin(ledger_client)
    first = ledger_client.tell("UserPromptSubmit", prompt="go")
    ledger_client.tell("UserPromptSubmit", prompt="on")
    ledger_client.before("t1", tool="Read", given={"file_path": "/a"})
    ledger_client.before("t2")
    assert "at most 90 minutes, 50 steps and 250 tool calls" in first.notes[0].text
    assert (run_of(ledger_client).steps, run_of(ledger_client).calls) == (2, 2)


@pytest.mark.proves("S3-54")
def test_each_step_has_one_checkpoint_before_its_first_look_and_one_before_its_first_change(
    ledger_client: LedgerClient,
):
    begin(ledger_client)
    for step in (1, 2):
        ledger_client.tell("UserPromptSubmit", prompt="go")
        for number in (1, 2):
            ledger_client.before(f"r{step}{number}", tool="Read", given={"file_path": f"/{number}"})
            ledger_client.before(f"w{step}{number}", given={**LETTER, "subject": f"{step}{number}"})
    kept = ledger_client.database.run(lambda tx: runs.checkpoints(tx, "r"))
    assert sorted((step, kind) for step, kind, _ in kept) == [
        ("r#1", "pre_read_only"),
        ("r#1", "pre_side_effect"),
        ("r#2", "pre_read_only"),
        ("r#2", "pre_side_effect"),
    ]
    assert {call.step_id for call in ledger_client.calls().values()} == {"r#1", "r#2"}


@pytest.mark.proves("S3-55")
def test_a_failed_side_effect_leaves_the_run_waiting_for_a_person(ledger_client: LedgerClient):
    begin(ledger_client)
    ledger_client.before("t0", tool="Read", given={"file_path": "/a"})
    ledger_client.failed("t0", "no such file", tool="Read", given={"file_path": "/a"})
    assert run_of(ledger_client).status == "running"
    ledger_client.before("t1")
    ledger_client.failed("t1", "timed out")
    assert (run_of(ledger_client).status, run_of(ledger_client).waiting_for) == (
        "waiting_for_human",
        f"`{MAIL}` failed, and may have done something",
    )
    assert "waits for a person" in refusal(ledger_client.before("t2", given={**LETTER, "subject": "x"}))
    ledger_client.database.run(lambda tx: runs.approve(tx, "r", 1))
    assert ledger_client.before("t3").verdict is Verdict.NO_OPINION


@pytest.mark.proves("S3-55")
def test_tests_that_fail_leave_the_run_as_it_is(ledger_client: LedgerClient):
    begin(ledger_client)
    given = {"command": "pytest -q > log.txt"}
    ledger_client.before("t1", tool="Bash", given=given)
    ledger_client.failed("t1", "exit code 1", tool="Bash", given=given)
    assert ledger_client.calls()["t1"].side_effect_class == "local"
    assert run_of(ledger_client).status == "running"


@pytest.mark.proves("S3-55")
def test_a_run_can_wait_after_any_failure_that_may_have_changed_something(tmp_path: Path):
    at = LedgerClient(tmp_path, "durable", packs=("runs",), wait_after_failure="any")
    at.runtime.store.put(persistent_scope("s"), runs.MARK, "r")
    begin(at)
    looks, writes = {"command": "ls missing"}, {"command": "pytest -q > log.txt"}
    at.before("t1", tool="Bash", given=looks)
    at.failed("t1", "exit code 1", tool="Bash", given=looks)
    assert run_of(at).status == "running"
    at.before("t2", tool="Bash", given=writes)
    at.failed("t2", "exit code 1", tool="Bash", given=writes)
    assert run_of(at).status == "waiting_for_human"
    at.close()


def test_a_sub_agents_answer_is_not_a_tool(ledger_client: LedgerClient):
    begin(ledger_client)
    refused = refusal(ledger_client.before("t1", tool="TaskOutput", given={}))
    assert refused == "a sub-agent's result was called as a tool"
    assert run_of(ledger_client).status == "waiting_for_human"


@pytest.mark.proves("S3-53")
def test_while_a_call_is_queued_only_that_one_runs_and_after_two_others_a_person_is_asked(ledger_client: LedgerClient):
    begin(ledger_client)
    queue(ledger_client, "t1", LETTER)
    other = ledger_client.before("t2", tool="Write", given={"file_path": "/a", "content": "long enough"})
    assert refusal(other).startswith("no file may be changed before that: `mcp__mail__send_email` has to be repeated")
    assert ledger_client.before("t3").verdict is Verdict.NO_OPINION
    assert ledger_client.before("t4", tool="Read", given={"file_path": "/a"}).verdict is Verdict.NO_OPINION
    queue(ledger_client, "t5", {**LETTER, "subject": "two"})
    for number in ("t6", "t7"):
        refusal(ledger_client.before(number, tool="Read", given={"file_path": "/a"}))
    assert run_of(ledger_client).status == "waiting_for_human"


@pytest.mark.proves("S3-17")
def test_a_call_that_is_made_again_is_not_validated_again(ledger_client: LedgerClient):
    begin(ledger_client)
    poor = {"file_path": "/a"}  # Write needs content
    assert "Missing required fields" in refusal(ledger_client.before("t1", tool="Write", given=poor))
    queue(ledger_client, "t2", poor, tool="Write")
    assert ledger_client.before("t3", tool="Write", given=poor).verdict is Verdict.NO_OPINION
    assert "Missing required fields" in refusal(ledger_client.before("t4", tool="Write", given=poor))


def test_a_run_that_is_named_by_the_environment_counts(ledger_client: LedgerClient):
    begin(ledger_client, run_id="from-env", status="cancelled")
    ledger_client.runtime.contexts.base = replace(ledger_client.runtime.contexts.base, env={"SNELL_RUN_ID": "from-env"})
    assert refusal(ledger_client.before("t1", session_id="other")) == "run `from-env` is cancelled"


def test_a_run_that_is_named_and_does_not_exist_lets_nothing_run(ledger_client: LedgerClient):
    ledger_client.runtime.contexts.base = replace(
        ledger_client.runtime.contexts.base, env={"SNELL_RUN_ID": "no-such-run"}
    )
    assert refusal(ledger_client.before("t1")) == "SNELL_RUN_ID names the run `no-such-run`, which does not exist"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("running", "succeeded"),
        ("waiting_for_human", "succeeded"),
        ("cancel_requested", "cancelled"),
        ("failed", "failed"),
        ("cancelled", "cancelled"),
        ("succeeded", "succeeded"),
    ],
)
def test_finishing_does_not_make_a_run_what_it_was_not(ledger_client: LedgerClient, before: str, after: str):
    begin(ledger_client, status=before)
    changed = ledger_client.database.run(lambda tx: runs.finish(tx, "r", 5, "succeeded"))
    assert (changed, run_of(ledger_client).status) == (before not in runs.ENDED, after)


def queue(at: LedgerClient, number: str, given: dict[str, Any], tool: str = MAIL) -> None:
    """A call that failed in this run, and has to be made again."""
    from snell.records.idempotency import args_hash

    call = ledger.Call(
        tool_call_id=f"s/{number}",
        run_id="r",
        session_id="s",
        raw_tool_name=tool,
        normalized_args_hash=args_hash(given, tool),
        status="failed",
    )
    assert at.database.run(lambda tx: (ledger.begin(tx, call), replays.queue(tx, "r", call.tool_call_id)))[1]


@pytest.mark.proves("S3-39")
def test_one_session_at_a_time_works_for_a_run_until_its_turn_ends(ledger_client: LedgerClient):
    begin(ledger_client)
    ledger_client.runtime.store.put(persistent_scope("other"), runs.MARK, "r")
    read = {"tool": "Read", "given": {"file_path": "/a"}}
    assert ledger_client.before("t1", **read).verdict is Verdict.NO_OPINION
    assert refusal(ledger_client.before("t2", session_id="other", **read)) == "session `s` is working for run `r`"
    assert ledger_client.before("t3", **read).verdict is Verdict.NO_OPINION
    assert (run_of(ledger_client).lease_owner, run_of(ledger_client).calls) == ("s", 2)
    ledger_client.tell("Stop", session_id="other", last_assistant_message="bye")
    assert run_of(ledger_client).lease_owner == "s"
    ledger_client.tell("Stop", last_assistant_message="bye")
    assert ledger_client.before("t4", session_id="other", **read).verdict is Verdict.NO_OPINION
    assert refusal(ledger_client.before("t5", **read)) == "session `other` is working for run `r`"
    ledger_client.database.run(lambda tx: runs.approve(tx, "r", 1))
    assert ledger_client.before("t6", **read).verdict is Verdict.NO_OPINION
    ledger_client.tell("SessionEnd", reason="other")
    assert run_of(ledger_client).lease_owner == ""


def test_a_lease_of_a_session_that_died_ends_by_itself_whatever_the_clock_does(ledger_client: LedgerClient):
    begin(ledger_client)
    read = {"tool": "Read", "given": {"file_path": "/a"}}
    for expires in (1, 10**16):  # long ago, and given by a clock that was far ahead
        ledger_client.database.run(
            lambda tx, at=expires: runs.change(tx, "r", 1, lease_owner="dead", lease_expires_at=at)
        )
        assert ledger_client.before(f"t{expires}", **read).verdict is Verdict.NO_OPINION
        assert run_of(ledger_client).lease_owner == "s"


@pytest.mark.proves("S3-75")
def test_budgets_leases_and_cancelling_hold_for_a_loop_of_ones_own(ledger_client: LedgerClient):
    def echo(text: str) -> str:
        return text

    def runner(session: str) -> ToolRunner:
        ledger_client.runtime.store.put(persistent_scope(session), runs.MARK, "r")
        return ToolRunner([echo], runtime=ledger_client.runtime, session_id=session)

    begin(ledger_client, max_calls=3)
    first, second = runner("first"), runner("second")
    assert [first.run("echo", {"text": "a"}).status, second.run("echo", {"text": "b"}).status] == ["done", "refused"]
    first.stop()
    assert second.run("echo", {"text": "c"}).status == "done"
    second.stop()
    assert [first.run("echo", {"text": text}).status for text in ("d", "e")] == ["done", "refused"]
    assert run_of(ledger_client).status == "failed"
    ledger_client.database.run(lambda tx: runs.start(tx, Run(run_id="q", created_at=10**15)))
    ledger_client.runtime.store.put(persistent_scope("first"), runs.MARK, "q")
    ledger_client.database.run(lambda tx: runs.cancel(tx, "q", 1, "enough"))
    came = first.run("echo", {"text": "f"})
    assert (came.status, "run `q` is cancelled: enough" in str(came.error)) == ("refused", True)
