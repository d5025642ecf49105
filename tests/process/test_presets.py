"""The presets observe, balanced and strict, through `snell-hook`: what each denies, asks and records."""

import json
import os
from typing import Any

import pytest

from tests.process.machine import Machine
from tests.process.test_replay_cli import counts
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)

DANGEROUS = "rm -rf /"
DOUBTFUL = "printenv"
TOKEN = "ghp_" + "a1B2c3D4e5" * 4
OWN_HOOKS = """
packs = ["pack"]
[[hooks]]
name = "strict_on_failure"
event = "PreToolUse"
on_failure = "block"
command = "exit 7"
[[hooks]]
name = "approves"
event = "PreToolUse"
if = "Bash(approve *)"
command = '''echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}' '''
[[hooks]]
name = "stops"
event = "PostToolUse"
command = '''echo '{"continue": false, "stopReason": "enough"}' '''
"""


def use(machine: Machine, preset: str, more: str = "") -> None:
    machine.write("snell.toml", f'profile = "{preset}"\n{more}')


def answer(machine: Machine, event: str, **fields: Any) -> dict[str, Any]:
    code, out, err = machine.hook({"hook_event_name": event, **fields})
    assert (code, err) == (0, ""), (code, err)
    return json.loads(out) if out else {}


def call(machine: Machine, command: str) -> dict[str, Any]:
    """Send a call with an id of its own: a repeated one would get the earlier answer."""
    fields = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": os.urandom(6).hex()}
    return answer(machine, "PreToolUse", **fields)


def verdict(machine: Machine, command: str) -> str:
    given = call(machine, command)
    return given.get("hookSpecificOutput", {}).get("permissionDecision", "")


def result(machine: Machine) -> Any:
    response = {"stdout": f"token {TOKEN}", "stderr": "", "interrupted": False, "isImage": False}
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t", "tool_response": response}
    return answer(machine, "PostToolUse", **call).get("hookSpecificOutput", {}).get("updatedToolOutput")


@pytest.mark.parametrize(
    ("preset", "verdicts", "hides"),
    [("observe", ("", ""), False), ("balanced", ("deny", "ask"), False), ("strict", ("deny", "deny"), True)],
)
def test_a_preset_decides_how_strict_the_guard_is_and_whether_secrets_reach_the_model(
    machine: Machine, preset: str, verdicts: tuple[str, str], hides: bool
):
    use(machine, preset)
    assert (verdict(machine, DANGEROUS), verdict(machine, DOUBTFUL)) == verdicts
    shown = result(machine)
    assert (shown is not None and TOKEN not in json.dumps(shown)) is hides
    assert json.loads(machine.snell("status", "--json"))["preset"] == preset
    values = {each["name"]: each for each in json.loads(machine.snell("settings", "--json"))["values"]}
    assert (values["profile"]["value"], "snell.toml:1" in values["profile"]["from"]) == (preset, True)


def test_observing_denies_asks_allows_changes_and_stops_nothing_and_records_what_would_have_happened(machine: Machine):
    (machine.project / "Makefile").write_text("test:\n\ttrue\n", encoding="utf-8")
    use(machine, "balanced", OWN_HOOKS)
    assert [verdict(machine, each) for each in ("bad", "ls", "approve it")] == ["deny", "deny", "deny"]
    use(machine, "observe", OWN_HOOKS)
    for command in (DANGEROUS, DOUBTFUL, "bad", "ls", "approve it", "pytest"):
        given = call(machine, command)
        assert given.get("hookSpecificOutput", {}).keys() <= {"hookEventName", "additionalContext"}, command
    after = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "x"}}
    assert answer(machine, "PostToolUse", **after).get("continue", True) is True

    def observed() -> str:
        shown = machine.snell("log", "-n", "50")
        return shown if shown.count("only observed: ") >= 5 else ""

    shown = wait_until(observed, 20)
    assert "only observed: deny: delete-tree" in shown
    assert "only observed: ask: environment" in shown
    assert "only observed: deny: not that" in shown
    assert "only observed: stop: enough" in shown
    assert "only observed: rewrite" in shown
    assert "only observed: deny" in machine.snell("fire", "--command", DANGEROUS)
    assert "observe: nothing is denied" in machine.snell("status")
    replayed = json.loads(machine.snell("replay", "--preset", "balanced", "--json"))
    assert counts(replayed)["newly_denied"] >= 2


@pytest.mark.proves("S1-103")
def test_a_policy_denies_while_its_user_only_observes_and_its_preset_wins(machine: Machine, tmp_path: Any):
    policy = tmp_path / "policy.toml"
    policy.write_text('[[hooks]]\nname = "no_ls"\nevent = "PreToolUse"\ncommand = "echo no >&2; exit 2"\n')
    use(machine, "observe")
    denied = machine.reason({"tool_input": {"command": "ls"}}, SNELL_POLICY=str(policy))
    assert "no" in denied
    policy.write_text('profile = "strict"\n')
    assert "environment" in machine.reason({"tool_input": {"command": DOUBTFUL}}, SNELL_POLICY=str(policy))


def test_set_up_names_the_packs_of_the_preset_that_is_chosen(machine: Machine):
    assert "redact_output" not in machine.snell("setup", "claude-code", "--print").partition("denies")[0]
    assert (
        "redact_output" in machine.snell("setup", "claude-code", "--preset", "strict", "--print").partition("denies")[0]
    )
    assert json.loads(machine.snell("status", "--json"))["preset"] == "balanced"  # nothing is written before the answer
