"""`profile = "seeds"`: a story per design document through the real `snell-hook`, and what differs from the default."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.process.machine import HOOK, Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = pytest.mark.real_start

PROFILE = 'profile = "seeds"\n'


@pytest.fixture
def seeds(machine: Machine) -> Machine:
    machine.write("snell.toml", PROFILE)
    return machine


def answer(machine: Machine, event: str, **fields: Any) -> dict[str, Any]:
    code, out, err = machine.hook({"hook_event_name": event, **fields})
    assert (code, err) == (0, ""), (code, err)
    return json.loads(out) if out else {}


def specific(machine: Machine, event: str, **fields: Any) -> dict[str, Any]:
    return answer(machine, event, **fields).get("hookSpecificOutput", {})


def call(machine: Machine, command: str, **fields: Any) -> dict[str, Any]:
    return specific(machine, "PreToolUse", tool_name="Bash", tool_input={"command": command}, **fields)


def snell(machine: Machine, *words: str) -> str:
    done = subprocess.run(
        [HOOK.with_name("snell"), *words], env=machine.env(), cwd=machine.project, capture_output=True, timeout=60
    )
    return done.stdout.decode() + done.stderr.decode()


@pytest.mark.proves("S0-30", "S0-32", "S0-51")
def test_the_project_commands_document(seeds: Machine):
    """A typed command becomes the project's and is approved; a word near a keyword names its agent."""
    (seeds.project / "Makefile").write_text("test:\n\ttrue\n", encoding="utf-8")
    redirected = call(seeds, "pytest -k one", tool_use_id="t1")
    assert redirected["updatedInput"] == {"command": "make test"}
    assert (redirected["permissionDecision"], "test" in redirected["permissionDecisionReason"]) == ("allow", True)
    assert "updatedInput" not in call(seeds, "!pytest -k one", tool_use_id="t2")
    assert "Invoke @improve." in answer(seeds, "UserPromptSubmit", prompt="imprve the error handling")["systemMessage"]
    assert (seeds.project / ".claude" / "tmp" / "local-s").exists()
    answer(seeds, "UserPromptSubmit", prompt="hello", session_id="../../outside")
    assert [path.name for path in seeds.project.rglob("local-*")] == ["local-s"]
    answer(seeds, "SessionEnd", reason="other")
    folder = seeds.home / ".claude" / "flow-reports"
    (report,) = wait_until(lambda: list(folder.glob("*.md")), 20)
    assert "imprve the error handling" in report.read_text(encoding="utf-8")


ENGINE = """
profile = "seeds"

[[hooks]]
event = "PreToolUse"
matcher = "Bash"
[hooks.command]
command = "exit 3"

[[hooks]]
event = "PreToolUse"
matcher = "Read"
[hooks.command]
command = "echo '{\\"continue\\": false, \\"stopReason\\": \\"not now\\"}'"

[[hooks]]
event = "PreToolUse"
matcher = "Glob"
exit_code_mode = "client"
[hooks.command]
command = "exit 3"
"""


@pytest.mark.proves("S1-68", "S1-158")
def test_the_engine_document(machine: Machine):
    """Every exit code but 0 denies, `continue: false` refuses the event, and a hook's own key wins."""
    machine.write("snell.toml", ENGINE)
    assert call(machine, "ls", tool_use_id="t1")["permissionDecision"] == "deny"
    read = answer(machine, "PreToolUse", tool_name="Read", tool_input={"file_path": "a"}, tool_use_id="t2")
    assert read["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert ("continue" in read, "not now" in read["hookSpecificOutput"]["permissionDecisionReason"]) == (False, True)
    glob = specific(machine, "PreToolUse", tool_name="Glob", tool_input={"pattern": "*"}, tool_use_id="t3")
    assert glob.get("permissionDecision") != "deny"


@pytest.mark.proves("S1-118")
def test_a_file_with_an_unknown_event_has_no_hooks(machine: Machine):
    machine.write("snell.toml", ENGINE + '\n[[hooks]]\nevent = "PreToolUze"\n[hooks.command]\ncommand = "true"\n')
    assert "permissionDecision" not in call(machine, "ls")
    shown = snell(machine, "settings")
    assert "PreToolUze" in shown
    assert "3 other hooks of this file have no effect" in shown


@pytest.mark.proves("S1-112")
def test_in_an_unapproved_project_only_policy_hooks_run(machine: Machine):
    (machine.project / ".snell").mkdir()
    (machine.project / ".snell" / "snell.toml").write_text('description = "a project"\n', encoding="utf-8")
    machine.write("snell.toml", 'packs = ["pack"]\n')
    assert machine.reason({"tool_input": {"command": "bad"}}) == "not that"
    machine.write("snell.toml", 'packs = ["pack"]\n' + PROFILE)
    assert machine.reason({"tool_input": {"command": "bad"}}) == ""


def test_the_work_document(seeds: Machine):
    """An effort, its log and the heartbeat that asks for an entry."""
    assert "parser" in snell(seeds, "effort", "start", "parser", "implement")
    answer(seeds, "SessionStart", source="startup")
    replies = [
        specific(seeds, "PreToolUse", tool_name="Read", tool_input={"file_path": "a"}, tool_use_id=f"t{number}")
        for number in range(11)
    ]
    assert replies[-1].get("permissionDecision") == "deny"
    snell(seeds, "effort", "log", "read the grammar")
    after = specific(seeds, "PreToolUse", tool_name="Read", tool_input={"file_path": "a"}, tool_use_id="t12")
    assert after.get("permissionDecision") != "deny"


def test_the_guardrails_document(seeds: Machine):
    """A call without a required field is refused with an example; a side effect that succeeded is not repeated."""
    incomplete = specific(seeds, "PreToolUse", tool_name="Write", tool_input={"file_path": "a"}, tool_use_id="t1")
    assert incomplete["permissionDecision"] == "deny"
    assert "content" in incomplete["permissionDecisionReason"]
    mail = {"tool_name": "mcp__mail__send_email", "tool_input": {"to": "ann@example.com", "subject": "hello there"}}
    assert "permissionDecision" not in specific(seeds, "PreToolUse", tool_use_id="t2", **mail)
    answer(seeds, "PostToolUse", tool_use_id="t2", tool_response={"ok": True}, **mail)
    assert specific(seeds, "PreToolUse", tool_use_id="t3", **mail)["permissionDecision"] == "deny"


def test_the_memory_document(seeds: Machine):
    """A decision that a tool shows is captured, and a later session is told to recall."""
    text = "We decided to use PostgreSQL instead of MySQL because of its JSON indexes."
    answer(seeds, "SessionStart", source="startup")
    ended = {"tool_name": "Bash", "tool_input": {"command": "cat notes.md"}, "tool_response": {"stdout": text}}
    answer(seeds, "PostToolUse", tool_use_id="t1", **ended)
    answer(seeds, "Stop", last_assistant_message=text)
    wait_until(lambda: "PostgreSQL" in snell(seeds, "memory", "recall", "which database"), 30)
    told = json.dumps(answer(seeds, "SessionStart", source="startup", session_id="later"))
    assert "recall" in told


def test_a_setting_of_the_user_wins_over_the_profile(machine: Machine):
    machine.write("snell.toml", PROFILE + '[pack.toolchain]\nmode = "careful"\n')
    (machine.project / "Makefile").write_text("test:\n\ttrue\n", encoding="utf-8")
    redirected = call(machine, "pytest")
    assert redirected["updatedInput"] == {"command": "make test"}
    assert "permissionDecision" not in redirected


def test_a_project_cannot_choose_a_profile(machine: Machine):
    folder = machine.project / ".snell"
    folder.mkdir()
    Path(folder, "snell.toml").write_text(PROFILE, encoding="utf-8")
    assert "`profile` has no effect in project settings" in snell(machine, "trust")
