"""The events, from payloads that the real client sent: what they carry, what a matcher reads, what counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from snell.clients import client_named
from snell.model.catalogue import CATALOGUE
from snell.model.effects import Deny, Effect, Note, Rewrite, Stop
from snell.model.events import Event, event_from
from tests.golden.reading import FOLDER, event_of, golden, golden_files, name_of, raw_payload
from tests.helpers import RecordingExecutor, decide_event, hook

RECORDED = golden_files("claude_code")
every_recorded = pytest.mark.parametrize("path", RECORDED, ids=name_of)


def recorded(name: str) -> Event:
    return client_named("claude_code").decode(raw_payload(FOLDER / "claude_code" / f"{name}.json"))


def runs(event: Event, matcher: str) -> bool:
    """Does a hook with this matcher run on the event?"""
    executor = RecordingExecutor()
    decide_event(event, hook("h", on=event.name, matcher=matcher), executor=executor)
    return bool(executor.rounds)


def said(event: Event, *effects: Effect, client: str = "claude_code") -> Any:
    reply = client_named(client).encode(decide_event(event, hook("team/rule", effects, on=event.name)))
    return json.loads(reply.stdout)


@pytest.mark.proves("S1-01")
def test_before_a_tool_runs_a_hook_may_deny_the_call_or_rewrite_its_input() -> None:
    event = recorded("PreToolUse")
    assert (runs(event, "Bash"), runs(event, "Edit")) == (True, False)
    assert said(event, Deny("no"))["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert said(event, Rewrite({"command": "ls"}))["hookSpecificOutput"]["updatedInput"] == {"command": "ls"}


@pytest.mark.proves("S1-02", "S1-19")
def test_after_a_tool_succeeded_its_output_can_be_commented_on_and_rewritten_but_not_undone() -> None:
    event = recorded("PostToolUse")
    output = {"stdout": "a", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
    assert (event.tool_input, event.tool_response) == ({"command": "echo a"}, output)
    assert event.payload["tool_response"] == output
    hidden = {**output, "stdout": "[hidden]"}
    assert said(event, Note("n"))["hookSpecificOutput"]["additionalContext"] == "n"
    assert said(event, Rewrite(hidden))["hookSpecificOutput"]["updatedToolOutput"] == hidden
    assert said(event, Stop("enough")) == {"continue": False, "stopReason": "enough"}
    assert said(event, Deny("no")) == {"decision": "block", "reason": "no"}


@pytest.mark.proves("S1-03", "S1-20")
def test_a_failed_tool_carries_its_error_and_whether_a_person_interrupted_it() -> None:
    payload = recorded("PostToolUseFailure").payload
    assert (payload["error"], payload["is_interrupt"]) == ("Exit code 3\nout\nerr", False)


@pytest.mark.proves("S1-04", "S1-21")
def test_a_prompt_ignores_matchers_and_may_be_replaced_for_a_caller_that_takes_a_new_one() -> None:
    event = recorded("UserPromptSubmit")
    assert (event.prompt, event.payload["prompt"]) == ("go", "go")
    assert runs(event, "nothing-like-it")
    assert said(event, Rewrite("go slowly"), client="generic")["updated_prompt"] == "go slowly"
    assert said(event, Rewrite("go slowly"))["hookSpecificOutput"]["additionalContext"].endswith("\ngo slowly")


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
@pytest.mark.proves("S1-05")
def test_the_matcher_of_a_session_start_reads_its_source(source: str) -> None:
    event = recorded("SessionStart" if source == "startup" else f"SessionStart-{source}")
    assert event.payload["source"] == source
    assert (runs(event, source), runs(event, "another")) == (True, False)


@pytest.mark.parametrize(("file", "reason"), [("", "other"), ("-clear", "clear"), ("-exit", "prompt_input_exit")])
@pytest.mark.proves("S1-06")
def test_the_matcher_of_a_session_end_reads_its_reason(file: str, reason: str) -> None:
    event = recorded(f"SessionEnd{file}")
    assert (runs(event, reason), runs(event, "another")) == (True, False)


@pytest.mark.proves("S1-07")
def test_a_stop_ignores_matchers_and_carries_the_continuation_flag_and_the_last_message() -> None:
    first, again = recorded("Stop"), recorded("Stop-continuation")
    assert (first.is_continuation, again.is_continuation) == (False, True)
    assert first.payload["last_assistant_message"] == "end"
    assert again.payload["last_assistant_message"] == "finished again"
    assert runs(first, "nothing-like-it")


@pytest.mark.proves("S1-08")
def test_the_matcher_of_a_started_sub_agent_reads_its_type() -> None:
    event = recorded("SubagentStart")
    assert (runs(event, "general-purpose"), runs(event, "Explore")) == (True, False)
    assert runs(recorded("SubagentStart-teammate"), "researcher")


@pytest.mark.proves("S1-09", "S1-23")
def test_a_finished_sub_agent_carries_its_id_and_its_own_transcript() -> None:
    event = recorded("SubagentStop")
    assert event.agent_id == "ae14aaebd44a0a5ac"
    own = f"{event.transcript_path.removesuffix('.jsonl')}/subagents/agent-{event.agent_id}.jsonl"
    assert event.payload["agent_transcript_path"] == own


@pytest.mark.proves("S1-10")
def test_the_matcher_before_compaction_reads_who_triggered_it() -> None:
    by_hand, by_itself = recorded("PreCompact"), recorded("PreCompact-auto")
    assert [runs(event, trigger) for event in (by_hand, by_itself) for trigger in ("manual", "auto")] == [
        *(True, False),
        *(False, True),
    ]


@pytest.mark.proves("S1-11")
def test_a_notification_carries_its_message_and_its_matcher_reads_the_type() -> None:
    event = recorded("Notification")
    assert event.payload["message"] == "Claude needs your permission to use Bash"
    assert (runs(event, "permission_prompt"), runs(event, "idle_prompt")) == (True, False)


@pytest.mark.proves("S1-12")
def test_the_matcher_of_a_permission_request_reads_the_tool() -> None:
    event = recorded("PermissionRequest")
    assert (runs(event, "Bash"), runs(event, "Edit")) == (True, False)


@every_recorded
@pytest.mark.proves("S1-17")
def test_tool_events_carry_the_name_of_the_tool_and_others_do_not(path: Path) -> None:
    event = recorded(path.stem)
    is_about_a_tool = event.row.subject == "tool"
    assert bool(event.tool) == bool(event.kind) == is_about_a_tool == ("tool_name" in event.payload)


@every_recorded
@pytest.mark.proves("S1-16", "S1-22", "S1-24")
def test_every_event_carries_its_name_its_session_and_its_directory(path: Path) -> None:
    event = recorded(path.stem)
    payload = golden(path)["payload"]
    assert event.payload["hook_event_name"] == event.name
    assert event.session_id == payload["session_id"] != ""
    assert event.cwd == payload["cwd"] != ""


@pytest.mark.proves("S1-18")
def test_the_input_of_a_tool_is_untouched() -> None:
    event = recorded("PreToolUse-edit")
    assert event.tool_input == {
        "file_path": "/home/dev/project/new.txt",
        "old_string": "hello",
        "new_string": "bye",
        "replace_all": False,
    }
    assert event.tool_input is event.payload["tool_input"]


@pytest.mark.parametrize("name", ["PreToolUse-inside-subagent", "PostToolUse-inside-subagent", "TeammateIdle"])
@pytest.mark.proves("S1-23")
def test_what_happens_inside_a_sub_agent_carries_its_id(name: str) -> None:
    assert recorded(name).agent_id == golden(FOLDER / "claude_code" / f"{name}.json")["payload"]["agent_id"]
    assert recorded("PreToolUse").agent_id == ""


@every_recorded
@pytest.mark.proves("S1-26")
def test_permission_mode_and_transcript_path_are_there_when_the_client_sent_them(path: Path) -> None:
    payload = golden(path)["payload"]
    event = recorded(path.stem)
    assert event.transcript_path == payload["transcript_path"]
    assert ("permission_mode" in event.payload) == ("permission_mode" in payload)
    assert event.payload.get("permission_mode") == payload.get("permission_mode")


@pytest.mark.proves("S1-26")
def test_permission_mode_and_transcript_path_are_left_out_when_the_client_did_not_send_them() -> None:
    event = client_named("generic").decode(b'{"hook_event_name": "Stop"}')
    assert event == event_from({"hook_event_name": "Stop"}, "Stop")
    assert event.transcript_path == ""


@pytest.mark.proves("S1-14")
def test_events_that_came_later_are_decoded_like_the_first_twelve() -> None:
    decoded = {path.stem: recorded(path.stem) for path in RECORDED}
    assert {stem: event.name for stem, event in decoded.items()} == {path.stem: event_of(path) for path in RECORDED}
    assert all(event.row is CATALOGUE[event.name] for event in decoded.values())
