"""Commands that promise to answer later: the event goes on, and the late answer arrives by itself."""

import sys
from typing import Any

import pytest

from snell.engine.decide import decide
from snell.engine.registry import Registry
from snell.model.decision import Failure, Outcome
from snell.model.effects import Deny, Note, Tell
from snell.model.hooks import Scope
from snell.runtime.event_flow import run_decision
from snell.runtime.executor import Executor
from snell.store.in_memory import InMemoryStore
from snell.system.run_program import background_runs
from tests.helpers import event
from tests.process.command_runner import CommandRunner, command
from tests.process.sandbox import Sandbox
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="survivors are looked for in /proc")

PROMISE = "echo '{\"async\": true}'"
GOING_ON = Outcome(remarks=("continues in the background",), is_pending=True)


@pytest.fixture
def runner(sandbox: Sandbox) -> CommandRunner:
    return CommandRunner(sandbox)


def late(runner: CommandRunner) -> list[tuple[str, Outcome]]:
    assert wait_until(lambda: bool(runner.late) and not background_runs(), 20)
    return runner.late


@pytest.mark.proves("S1-157")
def test_the_event_goes_on_while_the_hook_does_and_its_answer_arrives_later(runner: CommandRunner) -> None:
    line = f'{PROMISE}; until [ -e go ]; do sleep 0.02; done; echo \'{{"additionalContext": "the build is red"}}\''
    assert (runner.answer(line), runner.late) == (GOING_ON, [])
    (runner.folder / "go").touch()
    assert late(runner) == [("h", Outcome(effects=(Note("the build is red"),)))]


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("true", Outcome()),
        ("echo no >&2; exit 2", Outcome(effects=(Deny("no"),))),
        ("echo gone >&2; exit 1", Outcome(failure=Failure("crash", "exit code 1: gone"))),
        ('echo \'{"systemMessage": "done"}\'', Outcome(effects=(Tell("done"),))),
        ("echo just text", Outcome(remarks=("printed text, which goes nowhere on PreToolUse",))),
    ],
)
def test_a_late_answer_is_read_like_any_other(runner: CommandRunner, rest: str, expected: Outcome) -> None:
    assert runner.answer(f"{PROMISE}; {rest}") == GOING_ON
    assert late(runner) == [("h", expected)]


@pytest.mark.proves("S1-156", "S1-157")
def test_its_own_limit_counts_in_milliseconds_from_the_promise_on(runner: CommandRunner) -> None:
    assert runner.answer('echo \'{"async": true, "asyncTimeout": 300}\'; sleep 60') == GOING_ON
    assert late(runner) == [("h", Outcome(failure=Failure("timeout", "did not finish within 0.3 s and was ended")))]


@pytest.mark.proves("S1-96")
def test_going_to_the_background_does_not_use_a_once_hook_up(runner: CommandRunner) -> None:
    registry, marks = Registry([command(PROMISE, once=True)]), InMemoryStore()
    executor = Executor()
    decisions = [run_decision(decide(event("PreToolUse"), registry, marks), executor, runner.context) for _ in range(2)]
    executor.close()
    assert wait_until(lambda: not background_runs(), 20)
    assert [len(list(decision.runs())) for decision in decisions] == [1, 1]


@pytest.mark.parametrize(
    "fields",
    [{"force_sync": True}, {"on": "SessionStart"}, {"scope": Scope.POLICY}, {"on_failure": "block"}],
    ids=["forced", "session start", "policy", "fails closed"],
)
def test_a_hook_that_must_be_waited_for_cannot_promise_its_way_out(
    runner: CommandRunner, fields: dict[str, Any]
) -> None:
    name = fields.get("on", "PreToolUse")
    (outcome,) = runner.run(command(f"{PROMISE}; echo no >&2; exit 2", **fields), on=event(name))
    assert (outcome.effects[-1:], runner.late) == ((Deny("no"),), [])


@pytest.mark.parametrize("text", ['{"async": false}', '{"async": 1}', 'text {"async": true}'])
def test_anything_but_a_clear_promise_is_an_ordinary_answer(runner: CommandRunner, text: str) -> None:
    assert runner.answer(f"echo '{text}'; echo no >&2; exit 2").effects == (Deny("no"),)
