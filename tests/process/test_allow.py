"""`snell allow`: a person lets what the guard denied pass, once; an agent cannot."""

import json
import os
import pty
import subprocess
import sys

import pytest

from snell.cli.confirmation import AGENT_MARKERS
from tests.person import as_person
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)

RESET = {"tool_input": {"command": "git reset --hard"}}


def allow(machine: Machine, answer: str, **env: str) -> tuple[int, str]:
    """A person at a terminal runs `snell allow` and answers."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, f"{answer}\n".encode())
        done = subprocess.run(
            [sys.executable, "-m", "snell", *as_person(["allow"], machine.env(**env))],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=machine.env(**env),
            cwd=machine.project,
            timeout=60,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    return done.returncode, done.stdout.decode()


def test_a_person_who_says_yes_lets_the_denied_command_pass_once_and_it_is_recorded(machine):
    before = machine.reason(RESET)
    code, said = allow(machine, "y")
    assert (code, "git reset --hard" in said, "allowed once" in said) == (0, True, True)
    assert "git-discard" in before
    again = [machine.hook(RESET)[1] for _ in range(2)]
    assert ["the user allowed this command once" in out for out in again] == [True, False]
    assert ['"deny"' in out for out in again] == [False, True]
    logged = subprocess.run(
        [sys.executable, "-m", "snell", "log", "--client", "person", "--json"],
        env=machine.env(),
        cwd=machine.project,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert [json.loads(line)["event"] for line in logged.stdout.splitlines()] == ["Allow"]


def test_a_user_who_does_not_say_yes_allows_nothing(machine):
    machine.reason(RESET)
    assert allow(machine, "n")[0] == 1
    assert "git-discard" in machine.reason(RESET)


@pytest.mark.parametrize("marker", AGENT_MARKERS[:2])
def test_an_agent_with_a_terminal_allows_nothing(machine, marker):
    machine.reason(RESET)
    code, said = allow(machine, "y", **{marker: "1"})
    assert (code, "belongs to an agent" in said, marker in said) == (1, True, False)
    assert "git-discard" in machine.reason(RESET)


def test_the_socket_has_no_command_that_allows(machine):
    machine.reason(RESET)
    lines = [json.dumps({"cmd": name, "args": {}}) for name in ("allow", "guard.allow")]
    assert [answer["error"] for answer in machine.ask(*lines)] == ["UNKNOWN_COMMAND"] * 2
