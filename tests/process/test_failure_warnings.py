"""A hook that fails open is seen: a warning in the client once per session, and at the start of the next ones."""

import json
from pathlib import Path

import pytest

from snell.runtime.failure_warnings import SESSIONS
from tests.process.answers import record
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

HOOK = """[[hooks]]
event = "PreToolUse"
name = "lint"
{more}
[hooks.command]
command = "echo no such linter >&2; exit {code}"
"""


def shown(machine: Machine, event: str = "PreToolUse", session: str = "s", client: str = "claude-code") -> str:
    """What the client shows to the user."""
    _, out, _ = machine.hook({"hook_event_name": event, "session_id": session, "prompt": "go"}, "--client", client)
    return json.loads(out).get("systemMessage", "") if out else ""


def warning(machine: Machine) -> str:
    why = "exit code 1: no such linter"
    return (
        f"snell: hook `lint` ({machine.config}/snell.toml:1) failed and was ignored: {why}; `snell why` shows the run"
    )


@pytest.mark.proves("S1-87")
def test_a_hook_that_fails_open_warns_in_the_client_once_per_session(machine: Machine) -> None:
    machine.write("snell.toml", HOOK.format(code=1, more=""))
    assert [shown(machine) for _ in range(3)] == [warning(machine), "", ""]
    assert [shown(machine, session="other") for _ in range(2)] == [warning(machine), ""]
    found = record(machine)
    (run,) = [run for each in found["rounds"] for run in each["runs"] if run["hook"] == "lint"]
    crash = {"kind": "crash", "message": "exit code 1: no such linter"}
    assert (run["status"], run["failure"]) == ("non_blocking_error", crash)
    assert found["failures"] == [{"hook": "lint", "text": crash["message"]}]
    assert shown(machine, session="g", client="gemini") == warning(machine)
    machine.write("snell.toml", HOOK.format(code=0, more=""))
    assert shown(machine, session="third") == ""


@pytest.mark.proves("S1-87")
def test_a_hook_that_fails_after_the_reply_warns_at_the_next_event(machine: Machine) -> None:
    for number, more in enumerate(("async = true", 'role = "watches"')):
        machine.write("snell.toml", HOOK.format(code=1, more=more))
        seen: list[str] = []

        def is_shown(session: str = f"s{number}", seen: list[str] = seen) -> bool:
            seen.append(shown(machine, "UserPromptSubmit" if seen else "PreToolUse", session))
            return bool(seen[-1])

        wait_until(is_shown)
        assert (seen[0], seen[-1]) == ("", warning(machine))


def test_a_hook_that_fails_closed_is_a_refusal_and_no_warning(machine: Machine) -> None:
    machine.write("snell.toml", HOOK.format(code=1, more='on_failure = "block"'))
    _, out, _ = machine.hook()
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "systemMessage" not in json.loads(out)


def test_a_hook_that_keeps_failing_is_named_when_a_session_starts(machine: Machine) -> None:
    machine.write("snell.toml", HOOK.format(code=1, more=""))
    named = f"snell: hook `lint` ({machine.config}/snell.toml:1) failed in each of the last {SESSIONS} sessions: "
    for number in range(SESSIONS):
        assert shown(machine, "SessionStart", f"s{number}") == ""
        assert shown(machine, session=f"s{number}") != ""
    machine.stop()  # it is remembered by another daemon, too
    said = shown(machine, "SessionStart", "next")
    assert (said.startswith(named), "exit code 1: no such linter" in said) == (True, True)
    assert shown(machine, "SessionStart", "next") == ""  # as after a compaction
    assert shown(machine, "SessionStart", "last") == ""  # it did not fail in the one before


def test_it_is_named_only_where_it_is_a_hook(machine: Machine, tmp_path: Path) -> None:
    machine.write("snell.toml", HOOK.format(code=1, more=""))
    for number in range(SESSIONS):
        shown(machine, session=f"s{number}")
    machine.write("snell.toml", HOOK.format(code=1, more="").replace("lint", "other"))
    assert shown(machine, "SessionStart", "next") == ""
