"""Cursor's payloads and answers through the real `snell-hook`, with Snell's hooks between them."""

import json
from typing import Any

import pytest

from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)
HOOKS = """
from snell import Deny, Note, informs, judges

@informs("SessionStart")
def hello(event):
    return Note("recall first") if event.payload.get("source") == "startup" else None

@judges("PreToolUse")
def no_bad(event):
    return Deny("not that") if "bad" in str(event.tool_input) else None

@judges("Stop", "SubagentStop")
def not_yet(event):
    return Deny("go on") if event.payload.get("status") == "too soon" else None
"""
KEEPS = '[[hooks]]\nevent = "{0}"\n[hooks.command]\ncommand = "cat > $SNELL_HOME/given"\n'
EVENTS = {
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "preCompact": "PreCompact",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "stop": "Stop",
    **dict.fromkeys(("beforeShellExecution", "beforeMCPExecution", "beforeReadFile"), "PreToolUse"),
    **dict.fromkeys(("afterShellExecution", "afterMCPExecution", "afterFileEdit"), "PostToolUse"),
    "postToolUseFailure": "PostToolUseFailure",
}


class Cursor:
    """Cursor in a project."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.base = {"conversation_id": "c-1", "cursor_version": "3.12.17", "workspace_roots": [str(machine.project)]}

    def fire(self, event: str, **fields: Any) -> Any:
        payload = {**self.base, "hook_event_name": event, **fields}
        words = ("--client", "cursor", "--event", event)
        code, out, err = self.machine.hook(None, *words, raw=json.dumps(payload).encode())
        assert (code, err) == (0, "")
        return json.loads(out) if out else None

    def given(self) -> dict[str, Any]:
        """What the hook of the last event got on standard input."""
        path = self.machine.home / "given"
        found: dict[str, Any] = json.loads(path.read_bytes())
        path.unlink()
        return found


@pytest.fixture
def cursor(machine: Machine) -> Cursor:
    machine.write("snell.toml", 'packs = ["pack"]\n' + "".join(KEEPS.format(event) for event in set(EVENTS.values())))
    machine.write("pack/rules.py", HOOKS)
    return Cursor(machine)


@pytest.mark.proves("S4-30", "S4-31", "S4-32", "S4-94")
def test_cursors_events_reach_hooks_under_the_canonical_names(cursor: Cursor):
    for theirs, ours in EVENTS.items():
        cursor.fire(theirs, tool_name="Shell", tool_input={"command": f"ls {theirs}"}, prompt="hi", status="completed")
        given = cursor.given()
        assert (given["hook_event_name"], given["session_id"], given["cwd"]) == (
            ours,
            "c-1",
            str(cursor.machine.project),
        )
    cursor.fire("sessionStart")
    assert cursor.given()["source"] == "startup"
    cursor.fire("sessionStart", source="resume")
    assert cursor.given()["source"] == "resume"
    cursor.fire("stop", session_id="s-1")
    assert cursor.given()["session_id"] == "s-1"


@pytest.mark.proves("S4-33", "S4-37", "S4-94")
def test_decisions_come_back_in_cursors_own_fields(cursor: Cursor):
    assert cursor.fire("sessionStart") == {"continue": True, "additional_context": "recall first"}
    assert cursor.fire("sessionStart", source="resume") == {"continue": True}
    refused = {"permission": "deny", "user_message": "not that", "agent_message": "not that"}
    assert cursor.fire("preToolUse", tool_name="Shell", tool_input={"command": "bad"}) == refused
    mcp = {"tool_name": "remember", "tool_input": '{"text": "bad"}', "url": "http://localhost"}
    assert cursor.fire("beforeMCPExecution", **mcp) == refused
    assert cursor.fire("beforeMCPExecution", **{**mcp, "tool_input": '{"text": "x"}'}) == {}  # empty would block
    assert cursor.given()["tool_name"] == "mcp__unknown__remember"
    cursor.fire("afterMCPExecution", tool_name="remember", tool_input='{"text": "x"}', result_json='{"ok": true}')
    given = cursor.given()
    assert (given["tool_name"], given["tool_input"]) == ("mcp__unknown__remember", {"text": "x"})
    assert given["tool_response"] == {"ok": True}
    for event in ("stop", "subagentStop"):
        assert cursor.fire(event, status="too soon") == {"followup_message": "go on"}
        assert not cursor.fire(event, status="completed")
    cursor.fire("stop", status="completed", loop_count=1)
    assert cursor.given()["stop_hook_active"] is True
    elsewhere = str(cursor.machine.home)
    cursor.fire("stop", status="completed", workspace_roots=[elsewhere, str(cursor.machine.project)])
    assert cursor.given()["cwd"] == elsewhere
