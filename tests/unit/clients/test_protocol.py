"""Reading and answering by a table: what is judged is what runs, and a rewrite goes back in the client's own keys."""

import json
from typing import Any

import pytest

from snell.clients import client_named
from snell.clients.protocol.tool_inputs import files_in_patch
from snell.model.decision import Decision, Reason
from snell.model.effects import Deny, Note, Rewrite, Verdict
from snell.model.events import Event
from snell.model.tools import names_of
from snell.store.in_memory import InMemoryStore
from tests.helpers import decide_event, hook

CALL = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p"}


def call(client: str, tool: str, given: Any, **more: Any) -> Event:
    return client_named(client).decode(json.dumps({**CALL, "tool_name": tool, "tool_input": given, **more}).encode())


def rewritten(event: Event, value: Any) -> Any:
    reply = client_named(event.client).encode(decide_event(event, hook("h", Rewrite(value))))
    return json.loads(reply.stdout)


@pytest.mark.parametrize(
    ("client", "tool", "given", "name", "shaped"),
    [
        ("copilot", "create", {"path": "a", "file_text": "x"}, "Write", {"file_path": "a", "content": "x"}),
        ("grok", "read_file", {"target_file": "a"}, "Read", {"file_path": "a"}),
        ("grok", "search_replace", {"file_path": "a", "old_string": "x", "new_string": "y"}, "Edit", None),
        (
            "grok",
            "memo__remember",
            {"tool_name": "memo__remember", "tool_input": {"a": 1}},
            "mcp__memo__remember",
            {"a": 1},
        ),
        (
            "droid",
            "Edit",
            {"file_path": "a", "old_str": "x", "new_str": "y"},
            "Edit",
            {"file_path": "a", "old_string": "x", "new_string": "y"},
        ),
        ("droid", "memo___remember", {}, "mcp__memo__remember", None),
        ("copilot", "memo-remember", {}, "mcp__memo__remember", None),
        ("gemini", "mcp_memo_remember", {}, "mcp__memo__remember", None),
        ("opencode", "memo_remember", {}, "mcp__memo__remember", None),
        ("cursor", "MCP:remember", {}, "mcp__unknown__remember", None),
        ("kiro", "@memo/remember", {}, "mcp__memo__remember", None),
        ("codex", "shell", {"command": ["bash", "-lc", "ls | wc"]}, "Bash", {"command": "ls | wc"}),
        ("codex", "shell", {"command": ["rm", "a b"]}, "Bash", {"command": "rm 'a b'"}),
        ("codex", "brand_new_tool", {"x": 1}, "brand_new_tool", None),
        ("pi", "edit", {"path": "a", "edits": []}, "MultiEdit", {"file_path": "a", "edits": []}),
    ],
)
def test_a_tool_is_known_under_claudes_name_and_keys(
    client: str, tool: str, given: Any, name: str, shaped: Any
) -> None:
    event = call(client, tool, given)
    assert (event.tool, event.tool_name, event.payload["tool_name"]) == (name, tool, name)
    assert event.tool_input == (given if shaped is None else shaped)


@pytest.mark.parametrize(
    ("client", "tool", "given", "change", "answer"),
    [
        ("copilot", "create", {"path": "a", "file_text": "x"}, {"content": "y"}, {"path": "a", "file_text": "y"}),
        ("grok", "read_file", {"target_file": "a"}, {"file_path": "b"}, {"target_file": "b"}),
        (
            "grok",
            "memo__remember",
            {"tool_name": "memo__remember", "tool_input": {"a": 1}},
            {"a": 2},
            {"tool_name": "memo__remember", "tool_input": {"a": 2}},
        ),
        (
            "codex",
            "shell",
            {"command": ["bash", "-lc", "ls"]},
            {"command": "ls -a"},
            {"command": ["bash", "-lc", "ls -a"]},
        ),
        ("codex", "exec_command", {"cmd": "ls"}, {"command": "ls -a"}, {"cmd": "ls -a"}),
        (
            "opencode",
            "edit",
            {"filePath": "a", "oldString": "x", "newString": "y"},
            {"new_string": "z"},
            {"filePath": "a", "oldString": "x", "newString": "z"},
        ),
        (
            "cline",
            "run_commands",
            {"commands": ["cd x", "make"]},
            {"command": "make -C x"},
            {"commands": ["make -C x"]},
        ),
        ("cline", "read_files", {"files": ["a", "b"], "why": "w"}, {"why": "v"}, {"why": "v", "files": ["a", "b"]}),
        ("cline", "editor", {"path": "a", "new_text": "x"}, {"content": "y"}, {"path": "a", "new_text": "y"}),
    ],
)
def test_a_rewritten_input_goes_back_in_the_clients_own_keys(
    client: str, tool: str, given: Any, change: dict[str, Any], answer: Any
) -> None:
    event = call(client, tool, given)
    said = rewritten(event, {**event.tool_input, **change})
    found = said.get("overrideInput") or said.get("input") or said["hookSpecificOutput"]["updatedInput"]
    assert found == answer


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** Move to: c.py\n*** End Patch"


def test_a_patch_is_an_edit_of_every_file_in_it() -> None:
    event = call("codex", "apply_patch", {"command": PATCH})
    assert event.tool_input == {
        "new_string": PATCH,
        "old_string": "",
        "file_path": "a.py",
        "file_paths": ["a.py", "b.py", "c.py"],
    }
    assert (event.kind, names_of(event.tool, event.tool_name)) == ("edit", ("Edit", "apply_patch", "Write"))
    assert rewritten(event, {**event.tool_input, "new_string": "p"})["hookSpecificOutput"]["updatedInput"] == {
        "command": "p"
    }
    assert files_in_patch("no patch at all") == []


def test_where_an_input_has_a_key_under_both_names_the_one_that_the_client_reads_is_judged() -> None:
    event = call("copilot", "create", {"file_path": "harmless", "path": "/etc/passwd", "file_text": "x"})
    assert event.tool_input == {"file_path": "/etc/passwd", "content": "x"}
    assert event.flags == ("file_path in the input is ignored, Copilot CLI reads another key",)


def test_a_rewrite_that_takes_a_key_away_is_refused_where_inputs_are_merged() -> None:
    event = call("gemini", "run_shell_command", {"command": "ls", "background": True})
    said = rewritten(event, {"command": "ls"})
    assert said["decision"] == "deny"
    assert said["reason"].endswith('Call it like this: {"command":"ls"}')


@pytest.mark.parametrize(("mode", "verdict"), [("auto-low", "deny"), ("auto-high", "allow")])
def test_a_rewrite_approves_nothing_that_the_user_would_have_been_asked_about(mode: str, verdict: str) -> None:
    event = call("droid", "Execute", {"command": "ls"}, permission_mode=mode)
    assert rewritten(event, {"command": "ls -a"})["hookSpecificOutput"]["permissionDecision"] == verdict


def test_a_note_that_the_client_would_drop_waits_for_an_event_that_carries_it() -> None:
    marks = InMemoryStore()
    before, after = (
        call("qwen", "run_shell_command", {"command": "ls"}, hook_event_name=name)
        for name in ("PreToolUse", "PostToolUse")
    )
    for _ in range(2):
        assert decide_event(before, hook("h", Note("mind the gap")), marks=marks).notes == ()
    assert decide_event(after, marks=marks).notes == (Reason("h", "mind the gap"),)
    assert decide_event(after, marks=marks).notes == ()


def test_a_note_goes_with_the_reason_of_a_refusal() -> None:
    event = call("qwen", "run_shell_command", {"command": "ls"})
    said = json.loads(
        client_named("qwen").encode(decide_event(event, hook("h", (Deny("no"), Note("use make"))))).stdout
    )
    assert said["hookSpecificOutput"]["permissionDecisionReason"] == "no\nuse make"


def test_a_long_note_is_cut_where_the_client_would_drop_it() -> None:
    event = call("cursor", "Shell", {"command": "ls"})
    decision = Decision(event=event, notes=(Reason("h", "x" * 20_000),))
    note = json.loads(client_named("cursor").encode(decision).stdout)["additional_context"]
    assert (len(note), note[-6:]) == (10_000, " (cut)")


def test_an_end_of_turn_is_never_refused_because_the_turn_should_end() -> None:
    event = client_named("copilot").decode(b'{"hook_event_name": "Stop", "session_id": "s"}')
    decision = Decision(event=event, verdict=Verdict.DENY, reasons=(Reason("h", "go on"),), stop=Reason("h", "enough"))
    assert client_named("copilot").encode(decision).stdout == b""


def test_text_of_a_prompt_in_parts_is_joined() -> None:
    payload = {
        **CALL,
        "hook_event_name": "UserPromptSubmit",
        "prompt": [{"type": "text", "text": "a"}, {"type": "image"}, "b"],
    }
    assert client_named("kimi").decode(json.dumps(payload).encode()).prompt == "a\n\nb"


@pytest.mark.parametrize(
    ("name", "event", "said"),
    [
        ("antigravity", "PreInvocation", b"{}"),
        ("augment", "PromptSubmit", b""),
        ("antigravity", "PreToolUse", b'{"decision":"deny","reason":"why"}'),
    ],
)
def test_where_a_client_cannot_be_refused_it_is_not_given_another_events_refusal(
    name: str, event: str, said: bytes
) -> None:
    reply = client_named(name).encode_failure(event, "why", blocks=True)
    assert (reply.stdout.strip(), reply.exit_code) == (said, 0)


def test_an_unknown_event_is_refused_in_some_way_under_a_fail_closed_policy() -> None:
    for event in ("", "Unheard"):
        assert (
            json.loads(client_named("antigravity").encode_failure(event, "why", blocks=True).stdout)["decision"]
            == "deny"
        )
