"""A header with a variable that its hook may not read is a complaint wherever settings are read, not an empty token."""

import json
from pathlib import Path

import pytest

from tests.process.author import Author
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)

HOOK = """[[hooks]]
event = "PreToolUse"
[hooks.webhook]
url = "https://board.example/check"
headers = { Authorization = "Bearer ${HOOK_API_KEY}" }
"""
CASE = '[[case]]\nname = "any"\nevent = { on = "PreToolUse", kind = "shell", command = "ls" }\nexpect = "no_opinion"\n'
WHY = "snell.toml:5: header `Authorization` uses `HOOK_API_KEY`, which is not in `allowed_env`"
ADVICE = 'add `allowed_env = ["HOOK_API_KEY"]`'


@pytest.mark.proves("S1-73")
def test_a_variable_that_is_not_allowed_is_a_complaint_when_a_session_starts(machine: Machine) -> None:
    machine.write("snell.toml", HOOK)
    _, out, _ = machine.hook({"hook_event_name": "SessionStart"})
    assert f"{WHY}; {ADVICE}" in json.loads(out)["systemMessage"]
    assert "failed and was ignored: header `Authorization` uses `HOOK_API_KEY`" in machine.hook()[1]
    machine.write("snell.toml", HOOK.replace("[hooks.w", 'on_failure = "block"\n[hooks.w'))
    assert "could not run: header `Authorization` uses `HOOK_API_KEY`" in machine.reason()
    machine.write("snell.toml", f'{HOOK}allowed_env = ["HOOK_API_KEY"]\n')
    assert "allowed_env" not in machine.hook({"hook_event_name": "SessionStart", "session_id": "t"})[1]


def test_doctor_settings_trust_and_test_say_it_too(tmp_path: Path) -> None:
    author = Author(tmp_path)
    author.write(".snell/snell.toml", HOOK)
    author.write(".snell/snell.cases.toml", CASE)
    author.write("../home/config/snell.toml", HOOK)
    for command in ("doctor", "settings", "trust", "test"):
        _, out, err = author.snell(command)
        said = " ".join(f"{out}{err}".split())
        assert (WHY in said, ADVICE in said) == (True, True), (command, said)
    author.stop_daemon()
