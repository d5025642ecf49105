"""The limits that a hook has unless it sets its own, where a user enters; long ones with a clock that runs fast."""

import json
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.fork_server import ROOT
from tests.loopback import Answer, serving
from tests.model_server import Line, model
from tests.process.machine import CALL, Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

ENTRY = '[[hooks]]\nevent = "PreToolUse"\nname = "h"\n'
SLOW = "import time\nfrom snell import judges\n\n@judges('PreToolUse')\ndef check():\n    time.sleep(1000)\n"
# `snell hook` in a process whose clock runs so many times as fast.
FAST = """
import selectors, sys, time
factor, clock, select = float(sys.argv[1]), time.monotonic, selectors.PollSelector.select
start = clock()
time.monotonic = lambda: start + (clock() - start) * factor
selectors.PollSelector.select = lambda self, wait=None: select(self, wait and wait / factor)
from snell.cli.main import main
sys.exit(main(["hook", "--client", "claude-code"]))
"""
MODEL = '[model]\napi = "anthropic"\nurl = "{url}"\nkey_env = "HOME"\n'  # any text is a key
HANDLERS: dict[str, tuple[str, float]] = {
    "command": ('[hooks.command]\ncommand = "sleep 1000"\n', 600),
    "python": ('[hooks.python]\nfile = "slow.py"\nfunction = "check"\n', 600),
    "webhook": ('[hooks.webhook]\nurl = "{url}"\n', 30),
    "async": ('async = true\n[hooks.command]\ncommand = "sleep 1000"\n', 15),
    "prompt": (f'[hooks.prompt]\nprompt = "?"\n{MODEL}', 30),
    "agent": (f'[hooks.agent]\nprompt = "?"\n{MODEL}', 60),
}


@pytest.mark.proves("S1-39", "S1-45", "S1-46", "S1-77", "S1-156")
@pytest.mark.parametrize("kind", HANDLERS)
def test_a_hook_without_a_limit_of_its_own_is_ended_at_the_default_of_its_kind(machine: Machine, kind: str) -> None:
    settings, limit = HANDLERS[kind]
    factor = limit / 2.5
    machine.write("slow.py", SLOW)
    with serving(Answer(before=1000)) as server:
        machine.write("snell.toml", ENTRY + settings.replace("{url}", server.url))
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", FAST, str(factor)],
            input=json.dumps({**CALL, "cwd": str(machine.project)}).encode(),
            env=machine.env(PYTHONPATH=str(ROOT / "src")),
            cwd=machine.project,
            capture_output=True,
            timeout=60,
            check=True,
        )
    assert time.monotonic() - began >= limit / factor
    record = json.loads(machine.snell("why", "last", "--json"))
    runs = record.get("late") or [run for each in record["rounds"] for run in each["runs"]]
    (failure,) = [run["failure"] for run in runs if run["hook"] == "h"]
    assert (failure["kind"], f" {limit:g} s" in failure["message"]) == ("timeout", True), failure
    assert kind == "async" or failure["message"] in json.loads(done.stdout)["systemMessage"]


@pytest.mark.proves("S1-60")
def test_an_agent_is_given_up_after_fifty_turns(machine: Machine) -> None:
    with model(lambda _asked: Line(calls=(("Glob", {"pattern": "*"}),))) as server:
        asked = f'[model]\napi = "anthropic"\nurl = "{server.url}"\nkey_env = "KEY"\n'
        machine.write("snell.toml", f'{asked}{ENTRY}timeout = 500\n[hooks.agent]\nprompt = "look"\n')
        _, out, _ = machine.hook(KEY="k")
        assert "the agent did not answer within 50 turns" in json.loads(out)["systemMessage"]
        assert len(server.sent) == 50


@pytest.mark.proves("S1-100")
def test_five_hundred_hooks_of_one_event_all_run(machine: Machine) -> None:
    each = '@informs("PreToolUse")\ndef hook_{0}():\n    return Note("{0}")\n'
    functions = "\n".join(each.format(number) for number in range(500))
    machine.write("pack/rules.py", f"from snell import Note, informs\n\n{functions}")
    _, out, _ = machine.hook()
    said: dict[str, Any] = json.loads(out)["hookSpecificOutput"]
    assert said["additionalContext"].splitlines() == [str(number) for number in range(500)]


@pytest.mark.proves("S2-119")
def test_a_change_of_a_skill_forgets_what_was_read_of_it(machine: Machine) -> None:
    def call(cmd: str, **fields: Any) -> Any:
        (reply,) = machine.ask(json.dumps({"cmd": cmd, "args": fields}))
        assert "data" in reply, reply
        return reply["data"]

    machine.hook()
    project = call("db.project.upsert", path=str(machine.project))
    call("db.skills.upsert", projectId=project["id"], name="x", version="1")
    change = {"hook_event_name": "ConfigChange", "source": "user_settings", "file_path": "/home/u/settings.json"}
    machine.hook(change)
    assert len(call("db.skills.list", projectId=project["id"])) == 1
    machine.hook({**change, "source": "skills", "file_path": f"{machine.project}/.claude/skills/x/SKILL.md"})
    wait_until(lambda: call("db.skills.list", projectId=project["id"]) == [])
