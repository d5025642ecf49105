"""A person's break-glass: who may, what it does, and what is left of it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from snell.cli.confirmation import AGENT_MARKERS
from tests.person import as_person
from tests.process.machine import HOOK, Machine

BAD = {"tool_input": {"command": "bad"}}


@pytest.fixture
def machine(tmp_path):
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path, forks_daemon=True)
    yield machine
    machine.stop()


def snell(machine: Machine, *words: str, is_person: bool = False, **env: str) -> tuple[int, str]:
    """Exit code and all that is said, with a terminal or without one."""
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "snell", *(as_person(words, machine.env(**env)) if is_person else words)],
            stdin=theirs if is_person else subprocess.DEVNULL,
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


def policy(folder: Path) -> str:
    path = folder / "policy.toml"
    path.write_text('[[hooks]]\nevent="PreToolUse"\ncommand="echo by policy >&2; exit 2"\n', encoding="utf-8")
    return str(path)


def test_while_paused_only_policy_hooks_speak_and_every_record_says_so(machine, tmp_path):
    before = machine.reason(BAD)
    assert snell(machine, "pause", "5", "--why", "it hangs", is_person=True)[0] == 0
    during = machine.reason(BAD), machine.reason(BAD, SNELL_POLICY=policy(tmp_path))
    told = [snell(machine, *words)[1] for words in (["why"], ["log"], ["daemon", "status"], ["pause"])]
    assert snell(machine, "pause", "--end") == (0, "all hooks are enabled again\n")
    assert (before, during, machine.reason(BAD)) == ("not that", ("", "by policy"), "not that")
    assert all("paused by a person until" in text and "(it hangs)" in text for text in told)


def test_a_pause_outlives_the_daemon_and_is_in_the_journal(machine):
    machine.hook()
    snell(machine, "pause", "2", "--why", "broken", is_person=True)
    machine.stop()
    after_restart = machine.reason(BAD)
    snell(machine, "pause", "--end")
    rows = [json.loads(line) for line in snell(machine, "log", "--client", "person", "--json")[1].splitlines()]
    assert (after_restart, [row["event"] for row in rows]) == ("", ["Pause", "Resume"])
    assert "only policy hooks run for 2 minutes: broken" in snell(machine, "why", rows[0]["id"])[1]


def test_without_a_terminal_nothing_is_paused(machine):
    refused = (
        "snell: a pause needs a person at a terminal, and this is not known to be one; "
        "run it in your own terminal, or run `snell code` there and add its code with --code\n"
    )
    assert snell(machine, "pause", "5") == (1, refused)
    assert machine.reason(BAD) == "not that"


@pytest.mark.parametrize("marker", AGENT_MARKERS[::5])
def test_an_agent_with_a_terminal_pauses_nothing(machine, marker):
    code, said = snell(machine, "pause", "5", is_person=True, **{marker: "1"})
    assert (code, "belongs to an agent" in said, marker in said) == (1, True, False)
    assert snell(machine, "pause") == (0, "hooks are not paused\n")


def test_the_socket_has_no_command_that_pauses(machine):
    machine.hook()
    lines = [json.dumps({"cmd": name, "args": {"minutes": 5}}) for name in ("pause", "snell.pause", "resume")]
    assert [answer["error"] for answer in machine.ask(*lines)] == ["UNKNOWN_COMMAND"] * 3


@pytest.mark.parametrize("minutes", ["0", "-1", "241", "nan", "inf"])
def test_only_some_minutes_can_be_paused(machine, minutes):
    code, said = snell(machine, "pause", "--", minutes, is_person=True)
    assert (code, "minutes must be between 1 and 60" in said) == (1, True)
