"""Hooks in the front matter of skills and agents, through the real `snell-hook` and daemon."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.fork_server import run_snell
from tests.process.machine import HOOK, Machine

pytest_plugins = ("tests.process.machine_fixtures",)

FRONT = """---
name: {name}
description: x
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: "echo {reason} >&2; exit 2"
---
Do it well.
"""
ONCE = """---
name: once
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: "echo ran >> {log}"
          once: true
---
"""


class Client:
    """One client of a machine: sends events in its own form, and reads whether a shell call was refused."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine, self.name = machine, name

    def send(self, event: str, session: str = "s", **fields: Any) -> str:
        payload = {"hook_event_name": event, "session_id": session, "cwd": str(self.machine.project), **fields}
        done = subprocess.run(
            [HOOK, "--client", self.name],
            input=json.dumps(payload).encode(),
            env=self.machine.env(),
            cwd=self.machine.project,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return (done.stdout + done.stderr).decode()

    def runs(self, word: str = "forbidden", **fields: Any) -> bool:
        """Return whether the hook of the skill ran at a shell call."""
        call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": os.urandom(4).hex()}
        return word in self.send("PreToolUse", **{**call, **fields})

    def start(self, skill: str = "deploy", tool: str = "Skill", key: str = "skill", **fields: Any) -> str:
        call = {"tool_name": tool, "tool_input": {key: skill}, "tool_use_id": os.urandom(4).hex()}
        return self.send("PreToolUse", **{**call, **fields})


def write_skill(path: Path, name: str = "deploy", reason: str = "forbidden", text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or FRONT.format(name=name, reason=reason), encoding="utf-8")
    return path


def trust(machine: Machine) -> None:
    def run(*words: str) -> tuple[int, str, str]:
        return run_snell(*words, cwd=machine.project, env=machine.env(), given=b"")

    digest = json.loads(run("trust", "--json")[1])["digest"]
    assert run("trust", "--hash", digest)[0] == 0


@pytest.mark.proves("S1-137", "S1-138")
@pytest.mark.parametrize(
    ("client", "folder", "tool", "key"),
    [
        ("gemini", ".gemini/skills", "activate_skill", "name"),
        ("opencode", ".opencode/skill", "skill", "name"),
        ("droid", ".factory/skills", "Skill", "skill"),
        ("copilot", ".github/skills", "skill", "skill"),
    ],
)
def test_a_skills_hooks_run_from_its_tool_call_until_the_turn_ends(machine, client, folder, tool, key):
    write_skill(machine.project / folder / "deploy/SKILL.md")
    user = Client(machine, client)
    assert (user.start(tool=tool, key=key), user.runs()) == (user.start("none", tool, key), False)  # not trusted
    trust(machine)
    assert not user.runs()
    user.start(tool=tool, key=key)
    assert (user.runs(), user.runs(session="other")) == (True, False)
    machine.stop()  # the next event starts another daemon
    assert user.runs()
    user.send("Stop")
    assert not user.runs()


@pytest.mark.proves("S1-137")
@pytest.mark.parametrize(
    ("client", "tool", "given", "starts"),
    [
        ("codex", "exec_command", {"cmd": "sed -n '1,80p' {path}"}, True),
        ("codex", "exec_command", {"cmd": "cat < ~/.claude/skills/deploy/SKILL.md"}, True),
        ("codex", "exec_command", {"cmd": "cat {path}.bak"}, False),
        ("cursor", "Read", {"path": "{path}"}, True),
        ("pi", "read", {"path": "{path}"}, True),
        ("kimi", "ReadFile", {"path": "{path}"}, True),
        ("gemini", "read_file", {"path": "{path}"}, False),  # it has a tool that starts skills
    ],
)
def test_reading_its_document_starts_a_skill_where_there_is_no_tool_for_it(machine, client, tool, given, starts):
    path = write_skill(machine.home / ".claude/skills/deploy/SKILL.md")
    user = Client(machine, client)
    given = {key: value.replace("{path}", str(path)) for key, value in given.items()}
    user.send("PreToolUse", tool_name=tool, tool_input=given, tool_use_id="t1")
    assert user.runs() == starts
    user.send("Stop")
    assert not user.runs()


@pytest.mark.proves("S1-137", "S1-138")
@pytest.mark.parametrize(
    ("client", "prompt", "starts"),
    [
        ("cursor", "/deploy to staging", True),
        ("codex", "please use $deploy now", True),
        ("pi", "/skill:deploy", True),
        ("copilot", 'The user explicitly invoked the "/deploy" skill. Follow its instructions now.', True),
        ("generic", "/skills deploy", True),
        ("generic", "/deployment", False),
        ("generic", "see src/deploy", False),
    ],
)
def test_a_prompt_that_names_a_skill_starts_it(machine, client, prompt, starts):
    write_skill(machine.home / ".claude/skills/deploy/SKILL.md")
    user = Client(machine, client)
    user.send("UserPromptSubmit", prompt=prompt)
    assert user.runs() == starts
    user.send("UserPromptSubmit", prompt="something else")  # an interrupted turn has no end of its own
    assert not user.runs()
    user.send("UserPromptExpansion", command_name="deploy", expansion_type="slash_command", prompt="x")
    assert user.runs()


@pytest.mark.proves("S1-137", "S1-138", "S1-139")
def test_an_agents_hooks_run_until_its_end_and_for_its_calls_only(machine):
    write_skill(machine.project / ".cursor/agents/reviewer.md", "reviewer")
    trust(machine)
    user = Client(machine, "generic")
    user.send("SubagentStart", agent_id="a1", agent_type="reviewer")
    assert (user.runs(agent_id="a1"), user.runs(agent_id="a2")) == (True, False)
    user.send("Stop")
    assert user.runs(agent_id="a1")
    user.send("SubagentStop", agent_id="a1", agent_type="reviewer")
    assert not user.runs(agent_id="a1")


@pytest.mark.proves("S1-138")
def test_a_once_hook_of_a_skill_runs_once_each_time_the_skill_is_started(machine, tmp_path):
    log = tmp_path / "log"
    write_skill(machine.home / ".claude/skills/once/SKILL.md", text=ONCE.format(log=log))
    user = Client(machine, "generic")
    for expected in ("ran\n", "ran\nran\n"):
        user.start("once")
        user.runs()
        machine.stop()
        user.runs()
        user.send("Stop")
        assert log.read_text(encoding="utf-8") == expected


@pytest.mark.proves("S1-106", "S1-136", "S1-137", "S1-139")
def test_a_skills_hooks_come_last_with_their_limit_and_name_the_skill(machine):
    front = FRONT.replace("exit 2", "sleep 60").replace('60"', '60"\n          timeout: 1')
    write_skill(machine.home / ".claude/skills/slow/SKILL.md", text=front.format(name="slow", reason="waiting"))
    machine.write("snell.toml", "[[hooks]]\nevent = 'PreToolUse'\nname = 'mine'\n[hooks.command]\ncommand = 'true'\n")
    user = Client(machine, "generic")
    user.start("slow")
    assert "did not finish within 1 s" in user.send("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    assert not user.runs("did not finish", tool_name="Read", tool_input={})  # its matcher is for another tool
    user.runs()
    found = json.loads(machine.snell("why", "last", "--json"))
    runs = [run for each in found["rounds"] for run in each["runs"] if run["handler"] == "command"]
    assert [run["layer"] for run in runs] == ["user", "skill:slow"]


@pytest.mark.proves("S1-137")
@pytest.mark.parametrize(
    ("client", "folder", "runs"),
    [
        ("claude-code", ".claude", False),
        ("qwen", ".qwen", False),
        ("claude-code", ".cursor", True),
        ("qwen", ".claude", True),
    ],
)
def test_a_client_runs_the_hooks_of_its_own_skills_and_snell_those_of_others(machine, client, folder, runs):
    write_skill(machine.home / folder / "skills/deploy/SKILL.md")
    write_skill(machine.home / folder / "agents/reviewer.md", "reviewer")
    user = Client(machine, client)
    user.start()
    assert user.runs() is runs
    user.send("UserPromptSubmit", prompt="/deploy")
    user.send("SubagentStart", agent_id="a1", agent_type="reviewer")
    assert (user.runs(), user.runs(agent_id="a1")) == (runs, runs)


def test_a_skill_that_changed_after_its_approval_says_so_and_does_not_run(machine):
    path = write_skill(machine.project / ".snell/skills/deploy/SKILL.md")
    trust(machine)
    user = Client(machine, "generic")
    user.start()
    assert user.runs()
    write_skill(path, reason="tampered")
    assert not user.runs("tampered")
    user.send("Stop")
    assert "changed since it was approved" in user.start()


def test_a_skill_whose_call_was_refused_or_failed_does_not_run(machine):
    write_skill(machine.home / ".claude/skills/deploy/SKILL.md")
    deny = '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Skill"\ncommand = "exit 2"\n'
    machine.write("hooks.toml", deny)
    user = Client(machine, "generic")
    user.start()
    assert not user.runs()
    machine.write("hooks.toml", "# none\n")
    user.start(tool_use_id="t1")
    assert user.runs()
    failed = {"tool_name": "Skill", "tool_input": {"skill": "deploy"}, "tool_use_id": "t1", "error": "cancelled"}
    user.send("PostToolUseFailure", **failed)
    assert not user.runs()


@pytest.mark.parametrize("name", [None, ["deploy"], "", ":", "x" * 100_000, "../deploy", 3])
def test_a_strange_name_of_a_skill_starts_nothing(machine, name):
    write_skill(machine.home / ".claude/skills/deploy/SKILL.md")
    user = Client(machine, "generic")
    user.start(name)
    user.send("UserPromptSubmit", prompt=f"/{name}")
    user.send("SubagentStart", agent_id=name, agent_type=name)
    assert not user.runs()
