"""Command hooks as real processes: how their answer is read, and what else they do."""

import sys
import threading
from typing import Any

import pytest

from snell.handlers.mcp_tool import McpTool
from snell.model.decision import Failure, Outcome
from snell.model.effects import Allow, Ask, Deny, Note, Rewrite, Stop, Tell
from snell.model.hooks import Broken, Hook, Scope
from tests.helpers import call
from tests.process.command_runner import CommandRunner, command
from tests.process.sandbox import Sandbox
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="survivors are looked for in /proc")


def failed(kind: str, message: str) -> Outcome:
    return Outcome(failure=Failure(kind, message))


@pytest.fixture
def runner(sandbox: Sandbox) -> CommandRunner:
    return CommandRunner(sandbox)


@pytest.mark.proves("S1-44")
def test_a_command_line_is_run_by_the_shell(runner: CommandRunner) -> None:
    outcome = runner.answer('x=$(printf two); printf \'{"systemMessage": "%s"}\' "one $x" | cat')
    assert outcome == Outcome(effects=(Tell("one two"),))


def test_with_args_no_shell_is_involved_and_only_two_names_are_filled_in(runner: CommandRunner) -> None:
    script = runner.folder / "show"
    script.write_text('#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done > seen\n', encoding="utf-8")
    script.chmod(0o755)
    args = ("$HOME", "`id`", "a b", "${CLAUDE_PROJECT_DIR}/x", "${CLAUDE_PLUGIN_ROOT}", "*")
    runner.answer("${CLAUDE_PROJECT_DIR}/show", args=args, plugin_root="/plugin")
    seen = (runner.folder / "seen").read_text(encoding="utf-8").splitlines()
    assert seen == ["$HOME", "`id`", "a b", f"{runner.folder}/x", "/plugin", "*"]


DENY_JSON = 'echo \'{"decision": "block", "reason": "json"}\''
ALLOW_JSON = 'echo \'{"decision": "approve", "reason": "json"}\''
NOTE_JSON = 'echo \'{"additionalContext": "note"}\''


@pytest.mark.proves("S1-64", "S1-68", "S0-06")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("exit 0", Outcome()),
        ("echo no >&2; exit 0", Outcome()),
        (DENY_JSON, Outcome(effects=(Deny("json"),))),
        ("echo no >&2; exit 2", Outcome(effects=(Deny("no"),))),
        ("exit 2", Outcome(effects=(Deny("the hook refused without giving a reason"),))),
        (f"{DENY_JSON}; echo no >&2; exit 2", Outcome(effects=(Deny("json"),))),
        (f"{ALLOW_JSON}; echo no >&2; exit 2", Outcome(effects=(Allow("json"), Deny("no")))),
        (f"{NOTE_JSON}; echo no >&2; exit 2", Outcome(effects=(Note("note"), Deny("no")))),
        ("echo '{broken}'; echo no >&2; exit 2", Outcome(effects=(Deny("no"),))),
        ("echo first >&2; echo second >&2; exit 1", failed("crash", "exit code 1: first")),
        ("exit 1", failed("crash", "exit code 1")),
        ("exit 3", failed("crash", "exit code 3")),
        ("kill -9 $$", failed("crash", "exit code 137")),
        (f"{DENY_JSON}; exit 1", Outcome(effects=(Deny("json"),))),
        (f"{NOTE_JSON}; exit 1", Outcome(effects=(Note("note"),), remarks=("exit code 1; its JSON answer is used",))),
        (
            'echo \'{"continue": false, "stopReason": "s"}\'; exit 3',
            Outcome(effects=(Stop("s"),), remarks=("exit code 3; its JSON answer is used",)),
        ),
    ],
)
def test_the_exit_code_and_the_answer_together_decide(runner: CommandRunner, line: str, expected: Outcome) -> None:
    assert runner.answer(line) == expected


@pytest.mark.proves("S1-68")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("exit 0", Outcome()),
        ("echo no >&2; exit 2", Outcome(effects=(Deny("no"),))),
        ("echo no >&2; exit 1", Outcome(effects=(Deny("no"),), failure=Failure("crash", "exit code 1: no"))),
        ("exit 77", Outcome(effects=(Deny("exit code 77"),), failure=Failure("crash", "exit code 77"))),
        (f"{NOTE_JSON}; exit 1", Outcome(effects=(Deny("exit code 1"),), failure=Failure("crash", "exit code 1"))),
        (f"{DENY_JSON}; exit 1", Outcome(effects=(Deny("json"),))),
    ],
)
def test_in_strict_mode_every_other_exit_code_refuses(runner: CommandRunner, line: str, expected: Outcome) -> None:
    outcome = runner.answer(line, exit_code_mode="strict")
    assert (outcome, outcome.status) == (expected, "success" if line == "exit 0" else "blocking")


def test_a_policy_hook_that_fails_keeps_its_failure_even_with_an_answer(runner: CommandRunner) -> None:
    outcome = runner.answer(f"{ALLOW_JSON}; exit 1", scope=Scope.POLICY)
    assert outcome == Outcome(effects=(Allow("json"),), failure=Failure("crash", "exit code 1"))


@pytest.mark.parametrize("interpreter", [sys.executable, "sh", "/bin/sh"])
def test_an_interpreter_without_its_script_exits_with_2_and_is_a_failure(
    runner: CommandRunner, interpreter: str
) -> None:
    outcome = runner.answer(f"{interpreter} {runner.folder}/gone.py")
    assert (outcome.effects, outcome.status) == ((), "non_blocking_error")


def test_a_hook_that_only_speaks_of_missing_files_still_refuses(runner: CommandRunner) -> None:
    said = "python: can't open file '/etc/passwd': [Errno 2]"
    assert runner.answer(f'echo "{said}" >&2; exit 2').effects == (Deny(said),)


@pytest.mark.proves("S1-69")
@pytest.mark.parametrize(
    ("line", "args"),
    [("/nowhere/program", ()), (".", ()), ("", ("x",)), ("with\0null", ())],
    ids=["gone", "folder", "empty", "null"],
)
def test_a_command_that_cannot_be_started_is_a_failure_that_says_why(
    runner: CommandRunner, line: str, args: tuple[str, ...]
) -> None:
    outcome = runner.answer(line, args=args)
    assert outcome.failure is not None
    assert (outcome.effects, outcome.failure.kind, bool(outcome.failure.message)) == ((), "launch", True)
    strict = runner.answer(line, args=args, exit_code_mode="strict")
    assert strict == Outcome(effects=(Deny(outcome.failure.message),), failure=outcome.failure)


def test_a_shell_that_does_not_find_the_program_is_a_failure(runner: CommandRunner) -> None:
    outcome = runner.answer("no-such-program-anywhere --flag")
    assert (outcome.status, outcome.failure and outcome.failure.message[:14]) == (
        "non_blocking_error",
        "exit code 127:",
    )


@pytest.mark.proves("S1-44", "S1-88", "S1-95")
def test_at_its_limit_a_command_ends_with_everything_it_started(runner: CommandRunner) -> None:
    line = 'echo \'{"decision": "approve"}\'; setsid sleep 60 & sleep 60'
    outcome = runner.answer(line, timeout=0.4)
    assert (outcome, outcome.status) == (failed("timeout", "did not finish within 0.4 s and was ended"), "cancelled")


@pytest.mark.proves("S1-88")
def test_a_caller_may_cancel(runner: CommandRunner) -> None:
    cancel = threading.Event()
    watcher = threading.Thread(target=lambda: wait_until((runner.folder / "started").exists, 20) and cancel.set())
    watcher.start()
    outcomes = runner.run(command("touch started; sleep 60"), cancel=cancel)
    watcher.join()
    assert (outcomes, outcomes[0].status) == ([failed("cancelled", "was cancelled")], "cancelled")


@pytest.mark.proves("S1-98")
def test_commands_of_one_event_run_at_the_same_time_and_answer_in_execution_order(runner: CommandRunner) -> None:
    all_started = " ".join(f"here{n}" for n in range(5))
    line = (
        "touch here{n}; for each in "
        + all_started
        + '; do until [ -e "$each" ]; do sleep 0.02; done; done; echo {answer}'
    )
    answer = '\'{{"additionalContext": "{n}"}}\''
    hooks = [command(line.format(n=n, answer=answer.format(n=n))) for n in range(5)]
    assert runner.run(*hooks) == [Outcome(effects=(Note(str(n)),)) for n in range(5)]


@pytest.mark.proves("S1-71")
@pytest.mark.parametrize(
    ("text", "effects"),
    [
        ('"Continue"', ()),
        ('{"Reject": {"reason": "no"}}', (Deny("no"),)),
        ('{"ModifyInput": {"new_input": {"command": "make"}}}', (Rewrite({"command": "make"}),)),
    ],
)
def test_a_command_may_answer_in_tagged_form(runner: CommandRunner, text: str, effects: tuple[Any, ...]) -> None:
    assert runner.answer(f"echo '{text}'") == Outcome(effects=effects)


@pytest.mark.parametrize(
    ("printf", "expected"),
    [
        (r'\357\273\277{"systemMessage": "bom"}', Outcome(effects=(Tell("bom"),))),
        (r'{"systemMessage": "\377\376"}', Outcome(effects=(Tell("\ufffd\ufffd"),))),
        (r"\377\376\000", Outcome(remarks=("printed text, which goes nowhere on PreToolUse",))),
        (r'\r\n{"decision": "ask"}\r\n', Outcome(effects=(Ask(),))),
    ],
    ids=["byte order mark", "invalid inside", "binary", "carriage returns"],
)
def test_damaged_output_is_read_as_well_as_it_can_be(runner: CommandRunner, printf: str, expected: Outcome) -> None:
    assert runner.answer(f"printf '{printf}'") == expected


@pytest.mark.parametrize("where", ["", " >&2"])
def test_a_flood_is_a_failure_and_not_an_approval(runner: CommandRunner, where: str) -> None:
    outcome = runner.answer(f"head -c 3000000 /dev/zero | tr '\\0' x{where}")
    assert outcome == failed("output", "printed more than Snell reads (1 MB)")


def test_a_hook_need_not_read_its_input(runner: CommandRunner) -> None:
    on = call(cwd=str(runner.folder), content="x" * 2_000_000)
    assert runner.answer(DENY_JSON, on=on) == Outcome(effects=(Deny("json"),))


@pytest.mark.parametrize(
    ("handler", "message"),
    [
        (Broken("the pattern is wrong"), "the pattern is wrong"),
        (McpTool("memo", "look"), "there is no MCP server `memo`; describe it in `[mcp_servers.memo]`"),
    ],
)
def test_a_hook_that_cannot_be_run_at_all_is_a_failure(runner: CommandRunner, handler: Any, message: str) -> None:
    assert runner.run(Hook(id="h", event="PreToolUse", handler=handler)) == [failed("launch", message)]
