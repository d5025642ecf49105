"""What an event is about, typed; nothing that a client sends makes it raise."""

from typing import Any

import pytest

from snell.model.catalogue import CATALOGUE
from snell.model.events import Event, event_from
from snell.sdk import subjects as s
from snell.sdk.subjects import call_of, subject_of
from tests.helpers import event


def tool(name: str, given: Any, **payload: Any) -> Event:
    return event("PreToolUse", tool_name=name, tool_input=given, **payload)


def common(name: str, kind: str, given: Any) -> dict[str, Any]:
    return {"tool": name, "kind": kind, "input": given}


@pytest.mark.parametrize(
    ("name", "kind", "given", "type_", "own"),
    [
        ("Bash", "shell", {"command": "ls", "description": "d"}, s.ShellCall, {"command": "ls", "description": "d"}),
        ("PowerShell", "shell", {"cmd": "dir"}, s.ShellCall, {"command": "dir"}),
        (
            "Edit",
            "edit",
            {"file_path": "/a", "old_string": "x", "new_string": "y"},
            s.EditCall,
            {"path": "/a", "old": "x", "new": "y"},
        ),
        (
            "Edit",
            "edit",
            {"path": "/a", "old_str": "x", "new_str": "y"},
            s.EditCall,
            {"path": "/a", "old": "x", "new": "y"},
        ),
        ("NotebookEdit", "edit", {"notebook_path": "/n", "new_source": "y"}, s.EditCall, {"path": "/n", "new": "y"}),
        ("Write", "write", {"file_path": "/a", "content": "c"}, s.WriteCall, {"path": "/a", "content": "c"}),
        ("Read", "read", {"file_path": "/a"}, s.ReadCall, {"path": "/a"}),
        ("Grep", "search", {"pattern": "x", "path": "/a"}, s.SearchCall, {"pattern": "x", "path": "/a"}),
        ("WebFetch", "web", {"url": "u"}, s.WebCall, {"url": "u"}),
        ("WebSearch", "web", {"query": "q"}, s.WebCall, {"query": "q"}),
        ("mcp__lab__echo__twice", "mcp", {"x": 1}, s.McpCall, {"server": "lab", "method": "echo__twice"}),
        (
            "Agent",
            "agent",
            {"prompt": "p", "subagent_type": "Explore"},
            s.AgentCall,
            {"prompt": "p", "agent_type": "Explore"},
        ),
        ("Skill", "skill", {"skill": "deploy", "args": "now"}, s.SkillCall, {"skill": "deploy", "args": "now"}),
        ("FromTomorrow", "other", {"x": 1}, s.ToolCall, {}),
    ],
)
def test_a_tool_call_is_typed_by_its_kind(name: str, kind: str, given: Any, type_: Any, own: dict[str, str]) -> None:
    assert call_of(tool(name, given)) == type_(**common(name, kind, given), **own)


def test_a_call_knows_its_id_directory_response_and_error() -> None:
    on = event("PostToolUse", tool_name="Read", tool_use_id="t1", cwd="/p", tool_response={"x": 1}, error="e")
    assert call_of(on) == s.ReadCall(tool="Read", kind="read", id="t1", cwd="/p", response={"x": 1}, error="e")


def test_a_shell_call_reads_its_command_line() -> None:
    call = call_of(tool("Bash", {"command": "cd x && git push --force origin"}))
    assert isinstance(call, s.ShellCall)
    asked = [call.runs("git", "push"), call.runs("git", "push", "--force"), call.runs("git", "pull"), call.is_escaped]
    assert asked == [True, True, False, False]
    assert s.ShellCall(command="!git push --force").is_escaped


@pytest.mark.parametrize(
    "name", ["Bash", "Edit", "Write", "Read", "Grep", "WebFetch", "mcp__", "mcp__a", "Agent", "Skill", ""]
)
@pytest.mark.parametrize(
    "given", [None, 7, "text", [], {}, {"command": 7, "file_path": None, "prompt": ["x"], "url": {}}]
)
def test_fields_that_are_missing_or_of_another_type_are_empty(name: str, given: Any) -> None:
    call = call_of(tool(name, given))
    own = {field: getattr(call, field) for field in call.__struct_fields__ if field not in s.ToolCall.__struct_fields__}
    assert set(own.values()) <= {"", "a"}  # the server of `mcp__a`


PAYLOADS = {
    "UserPromptSubmit": ({"prompt": "hi"}, s.Prompt("hi")),
    "UserPromptExpansion": ({"prompt": "hi", "command_name": "deploy"}, s.Prompt("hi", "deploy")),
    "SessionStart": ({"source": "resume"}, s.Session("s1", "resume")),
    "SessionEnd": ({"reason": "clear"}, s.Session("s1", "", "clear")),
    "Setup": ({"trigger": "init"}, s.Session("s1", "init")),
    "Stop": ({"last_assistant_message": "done", "stop_hook_active": True}, s.Turn("done", True)),
    "StopFailure": ({"error": "rate_limit"}, s.Turn("", False, "rate_limit")),
    "SubagentStart": ({"agent_id": "a1", "agent_type": "Explore"}, s.AgentRun("a1", "Explore")),
    "SubagentStop": (
        {"agent_id": "a1", "agent_type": "Explore", "agent_transcript_path": "/t", "last_assistant_message": "done"},
        s.AgentRun("a1", "Explore", "/t", "done"),
    ),
    "TeammateIdle": ({"teammate_name": "kim"}, s.AgentRun("", "kim")),
    "Notification": (
        {"notification_type": "idle_prompt", "message": "m", "title": "t"},
        s.Notification("idle_prompt", "m", "t"),
    ),
    "PreCompact": ({"trigger": "manual", "custom_instructions": "the plan"}, s.Compaction("manual", "the plan")),
    "PostCompact": ({"trigger": "manual", "compact_summary": "sum"}, s.Compaction("manual", "", "sum")),
    "TaskCreated": ({"task_id": "1", "task_subject": "s", "task_description": "d"}, s.Task("1", "s", "d")),
    "FileChanged": ({"file_path": "/a", "event": "change"}, s.FileEvent("/a", "change")),
    "CwdChanged": ({"old_cwd": "/a", "new_cwd": "/b"}, s.FileEvent("/b")),
    "DirectoryAdded": ({"directory": "/d", "source": "cli"}, s.FileEvent("/d", "cli")),
    "InstructionsLoaded": ({"file_path": "/m", "load_reason": "session_start"}, s.FileEvent("/m", "session_start")),
    "PreToolUse": ({"tool_name": "Read"}, s.ReadCall(tool="Read", kind="read")),
}


@pytest.mark.proves("S2-62")
@pytest.mark.parametrize(("name", "payload", "subject"), [(name, *pair) for name, pair in PAYLOADS.items()])
def test_each_event_has_the_subject_that_its_row_names(name: str, payload: dict[str, Any], subject: Any) -> None:
    assert subject_of(event(name, **payload)) == subject


@pytest.mark.parametrize("name", [*CATALOGUE, "FromTomorrow"])
def test_a_subject_can_be_made_of_an_empty_payload(name: str) -> None:
    on = event_from({}, name)
    assert subject_of(on) is not None


@pytest.mark.parametrize("name", ["ConfigChange", "WorktreeCreate", "Elicitation", "PreModelSwitch", "FromTomorrow"])
def test_where_there_is_no_type_the_event_is_its_own_subject(name: str) -> None:
    on = event(name)
    assert subject_of(on) is on
