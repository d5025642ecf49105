"""What a command hook is given: the event on stdin, variables, a directory, and a file for variables of its own."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from snell.model.catalogue import CATALOGUE
from snell.model.decision import Outcome
from snell.model.effects import Deny, Env, Tell
from snell.model.events import Event
from snell.system.run_program import environment
from tests.helpers import call, event
from tests.process.command_runner import CommandRunner, command
from tests.process.sandbox import Sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="survivors are looked for in /proc")


@pytest.fixture
def runner(sandbox: Sandbox) -> CommandRunner:
    return CommandRunner(sandbox)


@pytest.mark.proves("S1-16", "S1-18", "S1-63")
def test_the_event_is_on_stdin_as_the_client_would_send_it(runner: CommandRunner) -> None:
    payload = {
        "session_id": "s1",
        "tool_name": "shell_command",
        "tool_input": {"command": "é", "n": 2**70, "deep": [None]},
    }
    on = Event(name="PreToolUse", payload=payload, client="other", tool="Bash", tool_name="shell_command", kind="shell")
    runner.answer("cat > seen", on=replace(on, payload={**payload, "cwd": str(runner.folder)}))
    text = (runner.folder / "seen").read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert json.loads(text) == {
        **payload,
        "tool_name": "Bash",
        "hook_event_name": "PreToolUse",
        "cwd": str(runner.folder),
    }


@pytest.mark.proves("S1-19", "S1-21")
@pytest.mark.parametrize(
    ("on", "fields"),
    [
        (
            event("PostToolUse", tool_name="Bash", tool_response={"stdout": "x"}),
            {"tool_name": "Bash", "tool_response": {"stdout": "x"}},
        ),
        (event("UserPromptSubmit", prompt="hi"), {"prompt": "hi"}),
        (
            event("PostToolUseFailure", error="Exit code 1", is_interrupt=False),
            {"error": "Exit code 1", "is_interrupt": False},
        ),
        (event("FromTomorrow", new={"a": 1}), {"new": {"a": 1}}),
    ],
    ids=lambda each: each.name if isinstance(each, Event) else "",
)
def test_every_event_keeps_its_own_fields(runner: CommandRunner, on: Event, fields: dict[str, Any]) -> None:
    runner.answer(f"cat > {runner.folder}/seen", on=on)
    seen = json.loads((runner.folder / "seen").read_text(encoding="utf-8"))
    assert seen == {"session_id": "s1", "hook_event_name": on.name, **fields}


def test_text_that_is_no_valid_unicode_still_arrives_as_json(runner: CommandRunner) -> None:
    runner.answer("cat > seen", on=call("rm \ud800", cwd=str(runner.folder)))
    assert json.loads((runner.folder / "seen").read_bytes())["tool_input"] == {"command": "rm \ud800"}


@pytest.mark.proves("S1-63", "S1-64")
def test_without_pass_context_and_parse_result_nothing_is_sent_or_read(runner: CommandRunner) -> None:
    line = 'cat > seen; echo \'{"decision": "block"}\''
    assert runner.answer(line, pass_context=False, parse_result=False) == Outcome()
    assert (runner.folder / "seen").read_bytes() == b""


def test_without_parse_result_the_exit_code_still_counts(runner: CommandRunner) -> None:
    assert runner.answer("echo no >&2; exit 2", parse_result=False).effects == (Deny("no"),)


VARIABLES = ("HOOK_EVENT", "HOOK_TOOL_NAME", "HOOK_SESSION_ID", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT")


def variables(runner: CommandRunner, on: Event | None = None, **fields: Any) -> dict[str, str]:
    on = on or call(cwd=str(runner.folder))
    runner.answer(f"env > {runner.folder}/env", on=on, **fields)
    pairs = (line.partition("=") for line in (runner.folder / "env").read_text(encoding="utf-8").splitlines())
    return {name: value for name, _, value in pairs}


@pytest.mark.proves("S1-65", "S1-66")
def test_event_tool_session_and_project_are_in_the_environment(runner: CommandRunner) -> None:
    found = variables(runner)
    assert {name: found[name] for name in VARIABLES if name in found} == {
        "HOOK_EVENT": "PreToolUse",
        "HOOK_TOOL_NAME": "Bash",
        "HOOK_SESSION_ID": "s1",
        "CLAUDE_PROJECT_DIR": str(runner.folder),
    }


@pytest.mark.proves("S1-65")
def test_an_event_without_a_tool_has_no_tool_name_there(runner: CommandRunner) -> None:
    found = variables(runner, event("Stop"))
    assert (found["HOOK_EVENT"], "HOOK_TOOL_NAME" in found) == ("Stop", False)


@pytest.mark.proves("S1-66")
def test_a_plugins_hook_finds_its_folder(runner: CommandRunner) -> None:
    assert variables(runner, plugin_root="/plugins/lab")["CLAUDE_PLUGIN_ROOT"] == "/plugins/lab"


def test_without_a_project_its_directory_is_that_of_the_event(runner: CommandRunner) -> None:
    hook = command("env > env")
    runner.run(hook, on=call(cwd=str(runner.folder)), project_dir="")
    assert f"CLAUDE_PROJECT_DIR={runner.folder}\n" in (runner.folder / "env").read_text(encoding="utf-8")


def test_variables_that_load_code_are_not_inherited(runner: CommandRunner) -> None:
    hook = command("env > env")
    runner.run(hook, env=environment({**os.environ, "BASH_ENV": "/evil", "LD_PRELOAD": "/evil.so"}, {"MINE": "1"}))
    text = (runner.folder / "env").read_text(encoding="utf-8")
    assert ("/evil" in text, "MINE=1\n" in text) == (False, True)


def test_a_null_character_in_a_value_does_not_keep_a_hook_from_running(runner: CommandRunner) -> None:
    on = call(cwd=str(runner.folder), session_id="a\0b")
    assert variables(runner, on)["HOOK_SESSION_ID"] == "ab"


@pytest.mark.proves("S1-67")
def test_assignments_in_the_env_file_come_back_without_their_quotes_and_the_file_is_gone(runner: CommandRunner) -> None:
    line = f"""
        echo "$CLAUDE_ENV_FILE" > {runner.folder}/name
        cat > "$CLAUDE_ENV_FILE" <<'END'
PLAIN=value
export EXPORTED=yes
export QUOTED="two words"
SINGLE='it is'
# a comment
not an assignment
EMPTY=
1BAD=x
  INDENTED=ok
WITH_EQUALS=a=b
UNBALANCED="oops
END
    """
    outcome = runner.answer(line, on=event("SessionStart", source="startup"))
    assert outcome.effects == (
        Env(
            {
                "PLAIN": "value",
                "EXPORTED": "yes",
                "QUOTED": "two words",
                "SINGLE": "it is",
                "EMPTY": "",
                "INDENTED": "ok",
                "WITH_EQUALS": "a=b",
                "UNBALANCED": '"oops',
            }
        ),
    )
    assert not Path((runner.folder / "name").read_text(encoding="utf-8").strip()).exists()


@pytest.mark.proves("S1-67")
@pytest.mark.parametrize("name", ["PreToolUse", "Stop", "UserPromptSubmit", "SessionEnd"])
def test_no_other_event_has_an_env_file(runner: CommandRunner, name: str) -> None:
    assert "CLAUDE_ENV_FILE" not in variables(runner, event(name))


@pytest.mark.proves("S1-67")
def test_the_env_file_exists_where_the_catalogue_lists_variables() -> None:
    names = {name for name, row in CATALOGUE.items() if "env" in row.can}
    assert names == {"SessionStart", "Setup", "CwdChanged", "FileChanged"}


def test_a_hook_may_delete_the_env_file_or_fail_and_nothing_is_left(runner: CommandRunner) -> None:
    on = event("SessionStart")
    deleted = runner.answer('rm "$CLAUDE_ENV_FILE"', on=on)
    broken = runner.answer(
        f'echo "$CLAUDE_ENV_FILE" > {runner.folder}/name; echo A=1 > "$CLAUDE_ENV_FILE"; exit 1', on=on
    )
    assert (deleted, broken.effects, broken.status) == (Outcome(), (Env({"A": "1"}),), "non_blocking_error")
    assert not Path((runner.folder / "name").read_text(encoding="utf-8").strip()).exists()


@pytest.mark.proves("S1-70")
def test_a_command_runs_in_the_directory_of_the_event(runner: CommandRunner) -> None:
    inner = runner.folder / "inner"
    inner.mkdir()
    assert runner.answer('printf \'{"systemMessage": "%s"}\' "$PWD"', on=call(cwd=str(inner))).effects == (
        Tell(str(inner)),
    )


@pytest.mark.proves("S1-70")
@pytest.mark.parametrize("cwd", ["/nowhere/at/all", "", "a\0b", "relative/nowhere"])
def test_when_that_is_gone_it_runs_in_the_project(runner: CommandRunner, cwd: str) -> None:
    outcome = runner.answer('printf \'{"systemMessage": "%s"}\' "$PWD"', on=call(cwd=cwd))
    assert outcome.effects == (Tell(str(runner.folder)),)


@pytest.mark.proves("S1-70")
def test_when_both_are_gone_it_runs_at_home_or_at_the_root(runner: CommandRunner) -> None:
    hook = command('printf \'{"systemMessage": "%s"}\' "$PWD"')
    (outcome,) = runner.run(hook, on=call(cwd="/nowhere"), project_dir="/nowhere/else")
    assert outcome.effects in ((Tell(os.path.expanduser("~")),), (Tell("/"),))
