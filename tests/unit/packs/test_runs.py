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
from snell.work import runs
from snell.work.runs import Run
from tests.ledger_desk import LETTER, MAIL, Desk

DAY = 86_400_000


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    at = Desk(tmp_path, "durable", packs=("runs", "tool_inputs"))
    at.runtime.store.put(persistent_scope("s"), runs.MARK, "r")
    yield at
    at.close()


def begin(at: Desk, **fields: Any) -> None:
    at.database.run(lambda tx: runs.start(tx, Run(**{"run_id": "r", "created_at": 10**15, **fields})))


def run_of(at: Desk) -> Run:
    found = at.database.run(lambda tx: runs.find(tx, "r"))
    assert found is not None
    return found


def refusal(decision: Decision) -> str:
    assert decision.verdict is Verdict.DENY
    return decision.reasons[0].text


def test_without_a_run_nothing_is_asked(desk: Desk):
    assert desk.before("t1").verdict is Verdict.NO_OPINION
    assert desk.before("t2", session_id="other").verdict is Verdict.NO_OPINION


@pytest.mark.proves("S3-52")
def test_after_a_request_to_cancel_no_tool_runs(desk: Desk):
    begin(desk)
    assert desk.before("t1").verdict is Verdict.NO_OPINION
    desk.database.run(lambda tx: runs.cancel(tx, "r", 1, "enough"))
    assert refusal(desk.before("t2", tool="Read", given={"file_path": "/a"})) == "run `r` is cancelled: enough"


@pytest.mark.proves("S3-75")
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"created_at": 0, "max_minutes": 90}, "90 minutes"),
        ({"steps": 51}, "50 steps"),
        ({"calls": 250}, "250 tool calls"),
    ],
)
def test_a_run_that_has_used_up_its_budget_ends(desk: Desk, fields: dict[str, int], why: str):
    begin(desk, **fields)
    assert refusal(desk.before("t1")) == f"run `r` has used up its {why}"
    assert run_of(desk).status == "failed"
    assert refusal(desk.before("t2")) == "run `r` has ended (failed)"


def test_calls_and_steps_are_counted(desk: Desk):
    begin(desk)
    first = desk.tell("UserPromptSubmit", prompt="go")
    desk.tell("UserPromptSubmit", prompt="on")
    desk.before("t1", tool="Read", given={"file_path": "/a"})
    desk.before("t2")
    assert "at most 90 minutes, 50 steps and 250 tool calls" in first.notes[0].text
    assert (run_of(desk).steps, run_of(desk).calls) == (2, 2)


@pytest.mark.proves("S3-54")
def test_each_step_has_one_checkpoint_before_its_first_look_and_one_before_its_first_change(desk: Desk):
    begin(desk)
    for step in (1, 2):
        desk.tell("UserPromptSubmit", prompt="go")
        for number in (1, 2):
            desk.before(f"r{step}{number}", tool="Read", given={"file_path": f"/{number}"})
            desk.before(f"w{step}{number}", given={**LETTER, "subject": f"{step}{number}"})
    kept = desk.database.run(lambda tx: runs.checkpoints(tx, "r"))
    assert sorted((step, kind) for step, kind, _ in kept) == [
        ("r#1", "pre_read_only"),
        ("r#1", "pre_side_effect"),
        ("r#2", "pre_read_only"),
        ("r#2", "pre_side_effect"),
    ]
    assert {call.step_id for call in desk.calls().values()} == {"r#1", "r#2"}


@pytest.mark.proves("S3-55")
def test_a_failed_side_effect_leaves_the_run_waiting_for_a_person(desk: Desk):
    begin(desk)
    desk.before("t0", tool="Read", given={"file_path": "/a"})
    desk.failed("t0", "no such file", tool="Read", given={"file_path": "/a"})
    assert run_of(desk).status == "running"
    desk.before("t1")
    desk.failed("t1", "timed out")
    assert (run_of(desk).status, run_of(desk).waiting_for) == (
        "waiting_for_human",
        f"`{MAIL}` failed, and may have done something",
    )
    assert "waits for a person" in refusal(desk.before("t2", given={**LETTER, "subject": "x"}))
    desk.database.run(lambda tx: runs.approve(tx, "r", 1))
    assert desk.before("t3").verdict is Verdict.NO_OPINION


@pytest.mark.proves("S3-55")
def test_tests_that_fail_leave_the_run_as_it_is(desk: Desk):
    begin(desk)
    given = {"command": "pytest -q > log.txt"}
    desk.before("t1", tool="Bash", given=given)
    desk.failed("t1", "exit code 1", tool="Bash", given=given)
    assert desk.calls()["t1"].side_effect_class == "local"
    assert run_of(desk).status == "running"


def test_a_sub_agents_answer_is_not_a_tool(desk: Desk):
    begin(desk)
    assert refusal(desk.before("t1", tool="TaskOutput", given={})) == "the result of a sub-agent is not a tool"
    assert run_of(desk).status == "waiting_for_human"


@pytest.mark.proves("S3-53")
def test_while_a_call_is_queued_only_that_one_runs_and_after_two_others_a_person_is_asked(desk: Desk):
    begin(desk)
    queue(desk, "t1", LETTER)
    other = desk.before("t2", tool="Write", given={"file_path": "/a", "content": "long enough"})
    assert refusal(other).startswith("no file may be changed before that: `mcp__mail__send_email` has to be repeated")
    assert desk.before("t3").verdict is Verdict.NO_OPINION
    assert desk.before("t4", tool="Read", given={"file_path": "/a"}).verdict is Verdict.NO_OPINION
    queue(desk, "t5", {**LETTER, "subject": "two"})
    for number in ("t6", "t7"):
        refusal(desk.before(number, tool="Read", given={"file_path": "/a"}))
    assert run_of(desk).status == "waiting_for_human"


@pytest.mark.proves("S3-17")
def test_a_call_that_is_made_again_is_not_validated_again(desk: Desk):
    begin(desk)
    poor = {"file_path": "/a"}  # Write needs content
    assert "Missing required fields" in refusal(desk.before("t1", tool="Write", given=poor))
    queue(desk, "t2", poor, tool="Write")
    assert desk.before("t3", tool="Write", given=poor).verdict is Verdict.NO_OPINION
    assert "Missing required fields" in refusal(desk.before("t4", tool="Write", given=poor))


def test_a_run_that_is_named_by_the_environment_counts(desk: Desk):
    begin(desk, run_id="from-env", status="cancelled")
    desk.runtime.contexts.base = replace(desk.runtime.contexts.base, env={"SNELL_RUN_ID": "from-env"})
    assert refusal(desk.before("t1", session_id="other")) == "run `from-env` is cancelled"


def test_a_run_that_is_named_and_does_not_exist_lets_nothing_run(desk: Desk):
    desk.runtime.contexts.base = replace(desk.runtime.contexts.base, env={"SNELL_RUN_ID": "no-such-run"})
    assert refusal(desk.before("t1")) == "SNELL_RUN_ID names the run `no-such-run`, which does not exist"


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
def test_finishing_does_not_make_a_run_what_it_was_not(desk: Desk, before: str, after: str):
    begin(desk, status=before)
    changed = desk.database.run(lambda tx: runs.finish(tx, "r", 5, "succeeded"))
    assert (changed, run_of(desk).status) == (before not in runs.ENDED, after)


def queue(at: Desk, number: str, given: dict[str, Any], tool: str = MAIL) -> None:
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
def test_one_session_at_a_time_works_for_a_run_until_its_turn_ends(desk: Desk):
    begin(desk)
    desk.runtime.store.put(persistent_scope("other"), runs.MARK, "r")
    read = {"tool": "Read", "given": {"file_path": "/a"}}
    assert desk.before("t1", **read).verdict is Verdict.NO_OPINION
    assert refusal(desk.before("t2", session_id="other", **read)) == "session `s` is working for run `r`"
    assert desk.before("t3", **read).verdict is Verdict.NO_OPINION
    assert (run_of(desk).lease_owner, run_of(desk).calls) == ("s", 2)
    desk.tell("Stop", session_id="other", last_assistant_message="bye")
    assert run_of(desk).lease_owner == "s"
    desk.tell("Stop", last_assistant_message="bye")
    assert desk.before("t4", session_id="other", **read).verdict is Verdict.NO_OPINION
    assert refusal(desk.before("t5", **read)) == "session `other` is working for run `r`"
    desk.database.run(lambda tx: runs.approve(tx, "r", 1))
    assert desk.before("t6", **read).verdict is Verdict.NO_OPINION
    desk.tell("SessionEnd", reason="other")
    assert run_of(desk).lease_owner == ""


def test_a_lease_of_a_session_that_died_ends_by_itself_whatever_the_clock_does(desk: Desk):
    begin(desk)
    read = {"tool": "Read", "given": {"file_path": "/a"}}
    for expires in (1, 10**16):  # long ago, and given by a clock that was far ahead
        desk.database.run(lambda tx, at=expires: runs.change(tx, "r", 1, lease_owner="dead", lease_expires_at=at))
        assert desk.before(f"t{expires}", **read).verdict is Verdict.NO_OPINION
        assert run_of(desk).lease_owner == "s"


@pytest.mark.proves("S3-75")
def test_budgets_leases_and_cancelling_hold_for_a_loop_of_ones_own(desk: Desk):
    def echo(text: str) -> str:
        return text

    def runner(session: str) -> ToolRunner:
        desk.runtime.store.put(persistent_scope(session), runs.MARK, "r")
        return ToolRunner([echo], runtime=desk.runtime, session_id=session)

    begin(desk, max_calls=3)
    first, second = runner("first"), runner("second")
    assert [first.run("echo", {"text": "a"}).status, second.run("echo", {"text": "b"}).status] == ["done", "refused"]
    first.stop()
    assert second.run("echo", {"text": "c"}).status == "done"
    second.stop()
    assert [first.run("echo", {"text": text}).status for text in ("d", "e")] == ["done", "refused"]
    assert run_of(desk).status == "failed"
    desk.database.run(lambda tx: runs.start(tx, Run(run_id="q", created_at=10**15)))
    desk.runtime.store.put(persistent_scope("first"), runs.MARK, "q")
    desk.database.run(lambda tx: runs.cancel(tx, "q", 1, "enough"))
    came = first.run("echo", {"text": "f"})
    assert (came.status, "run `q` is cancelled: enough" in str(came.error)) == ("refused", True)
