"""A tool with a command line is a shell call for every hook, and a changed command goes back where it came from."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from snell import Allow, Deny, McpCall, Rewrite, ShellCall, judges, rewrites
from snell.clients import client_named
from snell.handlers.command import Command
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.hooks import Hook
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from tests.ledger_client import LedgerClient

FORMS: list[tuple[str, Any, str]] = [
    ("Monitor", {"command": "git push"}, "git push"),
    ("terminal", {"input": "git push\n"}, "git push\n"),
    ("helper", {"cmd": "git push"}, "git push"),
    ("helper", {"argv": ["git", "push"]}, "git push"),
    ("helper", {"command": ["bash", "-lc", "cd a && git push"]}, "cd a && git push"),
    ("helper", {"commands": '["ls", "git push"]'}, "ls\ngit push"),
    ("helper", {"commands": [{"command": "git", "args": ["push"]}]}, "git push"),
    ("helper", {"language": "bash", "code": "git push"}, "git push"),
    ("mcp__box__run_shell", {"command": "git push"}, "git push"),
]
IDS = [f"{tool} {given}" for tool, given, _ in FORMS]


def _decided(tool: str, given: Any, *hooks: Any) -> Decision:
    with Runtime.embed(*hooks) as runtime:
        return runtime.fire("PreToolUse", session_id="s", cwd="/project", tool_name=tool, tool_input=given)


@pytest.mark.parametrize(("tool", "given", "line"), FORMS, ids=IDS)
def test_a_hook_for_shell_calls_sees_every_tool_that_carries_a_command(tool: str, given: Any, line: str):
    @judges("PreToolUse", kind="shell")
    def by_kind(call):
        return Deny(f"{type(call).__name__}: {call.command}") if call.runs("git", "push") else None

    @judges("PreToolUse")
    def by_type(call: ShellCall):
        return Deny(call.command)

    @judges("PreToolUse", matcher="Bash", condition="Bash(git push)")
    def by_name(event):
        return Deny(event.command)

    decision = _decided(tool, given, by_kind, by_type, by_name)
    assert [(each.hook, each.text) for each in decision.reasons] == [
        ("by_kind", f"ShellCall: {line}"),
        ("by_type", line),
        ("by_name", line),
    ]


@pytest.mark.parametrize(
    ("given", "folder"),
    [
        ({"command": "ls"}, "/project"),
        ({"command": "ls", "workdir": "/srv"}, "/srv"),
        ({"command": "ls", "Cwd": "web/../app"}, "/project/app"),
        ({"action": {"command": ["ls"], "working_directory": "/srv"}}, "/srv"),
    ],
)
@pytest.mark.parametrize("tool", ["terminal", "mcp__box__run"])
def test_a_hook_is_told_the_folder_that_the_input_names(tool: str, given: Any, folder: str):
    @judges("PreToolUse")
    def where(call: ShellCall):
        return Deny(call.cwd)

    assert _decided(tool, given, where).reason == folder


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("str_replace_based_edit_tool", {"command": "view", "path": "a"}),
        ("SlashCommand", {"command": "/review"}),
        ("Skill", {"command": "/review"}),
        ("KillShell", {"shell_id": "1"}),
        ("BashOutput", {"bash_id": "1"}),
        ("mcp__redis__command", {"command": "GET a"}),
        ("browser_evaluate", {"script": "() => 1"}),
        ("search", {"input": "git push"}),
        ("find_files", {"path": "src", "options": ["-i"]}),
        ("highlight", {"language": "bash", "code": "git push"}),
    ],
)
def test_a_hook_for_shell_calls_does_not_see_other_tools(tool: str, given: Any):
    @judges("PreToolUse", kind="shell")
    def by_kind():
        return Deny("kind")

    @judges("PreToolUse", matcher="Bash")
    def by_name():
        return Deny("name")

    assert _decided(tool, given, by_kind, by_name).verdict is Verdict.NO_OPINION


def test_a_hook_for_mcp_tools_still_sees_one_that_runs_commands():
    @judges("PreToolUse", kind="mcp")
    def by_kind(call: McpCall):
        return Deny(f"{call.server} {call.method}")

    decision = _decided("mcp__box__run_shell", {"command": "ls"}, by_kind)
    assert decision.reason == "box run_shell"


@pytest.mark.parametrize(("tool", "counts"), [("bash", True), ("mcp__box__run", False)])
def test_an_allow_for_shell_calls_approves_no_tool_of_an_mcp_server(tool: str, *, counts: bool):
    @judges("PreToolUse", kind="shell")
    def lets():
        return Allow("fine")

    verdict = _decided(tool, {"command": "ls"}, lets).verdict
    assert verdict is (Verdict.ALLOW if counts else Verdict.NO_OPINION)


@rewrites("PreToolUse", kind="shell")
def to_make(call: ShellCall):
    return Rewrite(command=call.command.replace("npm test", "make test"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"cmd": "npm test", "timeout": 5}, {"cmd": "make test", "timeout": 5}),
        ({"input": "npm test\n"}, {"input": "make test\n"}),
        ({"argv": ["npm", "test"]}, {"argv": ["make", "test"]}),
        ({"argv": ["npm", "test", "a b"]}, {"argv": ["make", "test", "a b"]}),
        ({"command": ["bash", "-lc", "npm test | tail"]}, {"command": ["bash", "-lc", "make test | tail"]}),
        ({"commands": ["ls", "npm test"]}, {"commands": ["ls", "make test"]}),
        ({"commands": '["ls","npm test"]'}, {"commands": '["ls","make test"]'}),
        (
            {"action": {"type": "exec", "command": ["npm", "test"]}},
            {"action": {"type": "exec", "command": ["make", "test"]}},
        ),
        ({"cmd": "ls"}, {"cmd": "ls"}),
    ],
)
def test_a_changed_command_goes_back_into_the_field_it_came_from(before: Any, after: Any):
    decision = _decided("terminal", before, to_make)
    assert (decision.verdict, decision.failures, decision.event.tool_input) == (Verdict.NO_OPINION, (), after)


@pytest.mark.parametrize(
    "before", [{"commands": [{"command": "npm test"}, {"command": "ls"}]}, {"command": "npm", "args": ["test"]}]
)
def test_a_change_that_has_no_single_field_refuses_the_call(before: Any):
    decision = _decided("terminal", before, to_make)
    assert (decision.verdict, decision.event.tool_input) == (Verdict.DENY, before)
    assert "`to_make` changes the command of `terminal`" in decision.reason
    assert "make test" in decision.reasons[0].instead


def test_cline_gets_a_changed_list_of_commands_back_as_the_text_that_it_sent():
    given, cline = {"name": "run_commands", "input": {"commands": '["npm test"]'}}, client_named("cline")
    with Runtime.embed(to_make) as runtime:
        event = cline.decode(json.dumps({"hookName": "tool_call", "taskId": "t", "tool_call": given}).encode())
        reply = json.loads(cline.encode(runtime.decide(event)).stdout)
    assert reply == {"overrideInput": {"commands": '["make test"]'}}


VALIDATOR = """
import json, sys
event = json.load(sys.stdin)
if event["tool_name"] != "Bash":
    sys.exit(0)
print(event["tool_input"]["command"], event.get("native"), file=sys.stderr)
sys.exit(2)
"""


def _reasons(decision: Decision) -> Sequence[str]:
    return [each.text.strip() for each in decision.reasons]


@pytest.mark.parametrize(("tool", "given", "line"), FORMS, ids=IDS)
def test_a_program_for_bash_is_told_of_a_bash_call(tmp_path: Path, tool: str, given: Any, line: str):
    script = tmp_path / "validator.py"
    script.write_text(VALIDATOR, encoding="utf-8")
    command = Command(sys.executable, (str(script),))
    hook = Hook(id="v", event="PreToolUse", matcher="Bash", handler=command)
    assert _reasons(_decided(tool, given, hook)) == [f"{line} {{'tool': '{tool}'}}"]
    everything = Hook(id="v", event="PreToolUse", handler=command)
    assert _reasons(_decided(tool, given, everything)) == []  # which knows the tool by its own name


def test_a_program_for_bash_changes_the_command_where_it_stands(tmp_path: Path):
    script = tmp_path / "changes.py"
    answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "make test"}}}
    script.write_text(f"print({json.dumps(answer)!r})", encoding="utf-8")
    hook = Hook(id="v", event="PreToolUse", matcher="Bash", handler=Command(sys.executable, (str(script),)))
    assert _decided("terminal", {"cmd": "npm test", "x": 1}, hook).event.tool_input == {"cmd": "make test"}


@pytest.mark.parametrize(("tool", "given"), [(tool, given) for tool, given, _ in FORMS], ids=IDS)
def test_the_ledger_reads_the_same_command_as_the_guard(tmp_path: Path, tool: str, given: Any):
    look = json.loads(json.dumps(given).replace("git push", "git status").replace("push", "status"))
    ledger_client = LedgerClient(tmp_path, "audit")
    ledger_client.before("t1", tool=tool, given=given)
    ledger_client.before("t2", tool=tool, given=look)
    ledger_client.before("t3", tool="Bash", given={"command": "git push"})
    ledger_client.before("t4", tool="Bash", given={"command": "git status"})
    classes = [each.side_effect_class for each in ledger_client.calls().values()]
    ledger_client.close()
    assert classes[:2] == classes[2:] == ["external", "read_only"]


def test_the_projects_own_commands_run_in_a_shell_of_any_name(tmp_path: Path):
    (tmp_path / "Makefile").write_text("test:\n\tpytest\n", encoding="utf-8")
    with Runtime.embed(*pack_hooks("toolchain")) as runtime:
        given = {"cmd": "pytest"}
        decision = runtime.fire("PreToolUse", session_id="s", cwd=str(tmp_path), tool_name="terminal", tool_input=given)
        elsewhere = runtime.fire(
            "PreToolUse", session_id="s", cwd=str(tmp_path), tool_name="mcp__box__run", tool_input=given
        )
    assert (decision.event.tool_input, elsewhere.event.tool_input) == ({"cmd": "make test"}, given)
