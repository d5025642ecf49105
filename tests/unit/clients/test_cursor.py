"""Cursor's names for things, and ours."""

import json
import subprocess
import sys
from typing import Any

import pytest

from snell.clients import client_named
from snell.model.effects import Deny, Env, Note
from snell.model.events import Event
from tests.golden.reading import FOLDER, event_in
from tests.helpers import decide_event, hook

CURSOR = client_named("cursor")
BASE = {
    "conversation_id": "c-1",
    "cursor_version": "3.12.17",
    "workspace_roots": ["/home/dev/project", "/home/dev/lib"],
}


def event(name: str, **fields: Any) -> Event:
    return CURSOR.decode(json.dumps({**BASE, "hook_event_name": name, **fields}).encode())


def said(given: Event, *effects: Any) -> Any:
    return json.loads(CURSOR.encode(decide_event(given, hook("h", effects, on=given.name))).stdout)


@pytest.mark.proves("S4-30")
def test_the_conversation_is_the_session() -> None:
    assert event("stop").session_id == "c-1"
    assert event("stop", session_id="s-1").session_id == "s-1"


@pytest.mark.proves("S4-31")
@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("sessionStart", "SessionStart"),
        ("sessionEnd", "SessionEnd"),
        ("beforeSubmitPrompt", "UserPromptSubmit"),
        ("preToolUse", "PreToolUse"),
        ("postToolUse", "PostToolUse"),
        ("postToolUseFailure", "PostToolUseFailure"),
        ("beforeShellExecution", "PreToolUse"),
        ("afterFileEdit", "PostToolUse"),
        ("preCompact", "PreCompact"),
        ("subagentStart", "SubagentStart"),
        ("subagentStop", "SubagentStop"),
        ("stop", "Stop"),
        ("afterAgentThought", "afterAgentThought"),
    ],
)
def test_event_names_become_the_canonical_ones(theirs: str, ours: str) -> None:
    assert event(theirs).name == ours


@pytest.mark.proves("S4-32")
def test_a_session_that_starts_without_a_source_starts_up() -> None:
    assert event("sessionStart").payload["source"] == "startup"
    assert event("sessionStart", source="resume").payload["source"] == "resume"


@pytest.mark.proves("S4-33")
def test_a_note_at_the_start_of_a_session_is_additional_context() -> None:
    start = event("sessionStart")
    assert said(start, Note("recall first")) == {"continue": True, "additional_context": "recall first"}
    assert said(start) == {"continue": True}
    assert said(start, Env({"STAGE": "test"})) == {"continue": True, "env": {"STAGE": "test"}}


@pytest.mark.proves("S1-24")
def test_an_event_happened_in_its_own_folder_else_in_the_first_of_the_workspace() -> None:
    inner = "/home/dev/project/packages/one"
    assert event("beforeShellExecution", command="ls", cwd=inner).cwd == inner
    assert event("beforeSubmitPrompt", prompt="hi").cwd == "/home/dev/project"


@pytest.mark.proves("S4-37")
def test_what_later_versions_send_is_understood() -> None:
    assert event("stop", status="completed", loop_count=1).is_continuation
    assert event("stop").cwd == "/home/dev/project"  # the first of its roots
    done = event("afterMCPExecution", tool_name="remember", tool_input='{"text": "x"}', result_json='{"ok": true}')
    assert (done.tool, done.tool_input, done.tool_response) == ("mcp__unknown__remember", {"text": "x"}, {"ok": True})
    before = event("beforeMCPExecution", tool_name="remember", tool_input='{"text": "x"}', url="http://localhost")
    assert (before.tool, before.tool_input) == ("mcp__unknown__remember", {"text": "x"})
    assert said(before, Deny("no")) == {"permission": "deny", "user_message": "no", "agent_message": "no"}
    assert said(before) == {}  # with `failClosed` nothing at all would block


@pytest.mark.proves("S4-94")
def test_a_payload_goes_in_and_a_reply_comes_out() -> None:
    call = event_in(FOLDER / "cursor/PreToolUse.json")
    assert (call.name, call.tool, call.tool_name, call.kind) == ("PreToolUse", "Bash", "Shell", "shell")
    assert said(call, Deny("no", "ask")) == {
        "permission": "deny",
        "user_message": "no. Instead: ask",
        "agent_message": "no. Instead: ask",
    }


@pytest.mark.proves("S4-111")
def test_translating_a_payload_loads_nothing_heavy() -> None:
    program = (
        "import sys; from snell.clients import client_named, client_names;"
        'given = b\'{"hook_event_name": "Stop", "session_id": "s"}\';'
        "[each.decode(given) for each in map(client_named, client_names()) if each.capabilities.hooks];"
        "heavy = 'numpy mcp httpx2 asyncio apsw rich ruamel';"
        "heavy += ' snell.memory snell.llm snell.store snell.handlers snell.settings';"
        "sys.exit(', '.join(name for name in heavy.split() if name in sys.modules) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")
