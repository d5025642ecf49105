"""Emulation: what a client once sent comes out again, and what its hooks answer is taken as that client takes it."""

from pathlib import Path
from typing import Any

import pytest

from snell.clients.emulation import EMULATIONS, emulation_for
from snell.handlers.command import Command
from snell.model.decision import Outcome
from snell.model.effects import Allow, Ask, Deny, Effect, Env, Note, Rewrite, Stop, Tell
from snell.model.events import Event
from snell.model.hooks import Hook, Source
from snell.model.protocols import ClientEmulation, ProgramOutput
from snell.settings.client_hook_files import CLIENT_FORMATS
from tests.golden.reading import event_in, golden, golden_files, name_of

# What only that client can know, by event; it is left out or empty.
UNKNOWN: dict[str, set[str]] = {
    "sessionStart": {"composer_mode"},
    "beforeSubmitPrompt": {"composer_mode", "attachments"},
    "preToolUse": {"cwd"},  # some of its tools report none
    "preCompact": {
        "context_usage_percent",
        "context_tokens",
        "context_window_size",
        "message_count",
        "messages_to_compact",
        "is_first_compaction",
    },
    "beforeMCPExecution": {"command"},  # there it is the server's command line, here its name
    "afterMCPExecution": {"user_email"},
    "beforeReadFile": {"content"},  # read from the file, which a recording does not bring
    "sessionEnd": {"duration_ms"},
    "stop": {"input_tokens", "output_tokens"},
    "subagentStop": {"task", "duration_ms", "message_count", "tool_call_count"},
    "PermissionRequest": {"turn_id", "tool_use_id"},
    "PreToolUse": {"turn_id", "tool_use_id"},
    "SessionEnd": {"turn_id", "model"},
    "SessionStart": {"turn_id"},
    "PreCompact": {"transcript_path"},
}
ALWAYS = {"timestamp", "cursor_version"}


def native_of(path: Path) -> str:
    event = event_in(path)
    return str(event.payload.get("native", {}).get("event", event.name))


def recorded() -> list[Path]:
    """Every payload of a client that can be emulated, but for events that are another one here or nothing."""
    found = []
    for client in EMULATIONS:
        for path in golden_files(client):
            as_written = CLIENT_FORMATS[client].event(native_of(path))
            if as_written and event_in(path).name in as_written.names:
                found.append(path)
    return found


@pytest.mark.parametrize("path", recorded(), ids=name_of)
def test_what_a_client_sent_comes_out_again(path: Path) -> None:
    event, native, sent = event_in(path), native_of(path), golden(path)["payload"]
    emulation = emulation_for(f"{path.parent.name}:{native}")
    assert emulation is not None
    (given,) = emulation.payloads_for(event, event.cwd)
    unknown = ALWAYS | UNKNOWN.get(native, set())
    assert {key: given[key] for key in given if key not in unknown} == {
        key: sent[key] for key in sent if key not in unknown
    }
    if "timestamp" in sent:
        assert type(given["timestamp"]) is type(sent["timestamp"])


@pytest.mark.parametrize("client", EMULATIONS)
def test_every_event_of_every_client_can_be_written_for_every_client(client: str) -> None:
    natives = {native_of(path) for path in recorded() if path.parent.name == client}
    assert len(natives) > 5
    for native in natives:
        emulation, here = emulation_for(f"{client}:{native}"), CLIENT_FORMATS[client].event(native)
        assert emulation
        assert here
        for path in golden_files():
            event = event_in(path)
            if event.name in here.names and (not here.kinds or event.kind in here.kinds):
                for given in emulation.payloads_for(event, "/p"):
                    assert isinstance(emulation.is_wanted("Shell|run_.*|bash", event, given), bool)
                    emulation.answer(
                        event, given, ProgramOutput('{"permission": 3, "decision": [], "hookSpecificOutput": 1}')
                    )


def before(tool: str, kind: str, **given: Any) -> Event:
    payload = {"session_id": "s", "cwd": "/p", "tool_name": tool, "tool_input": given}
    return Event(name="PreToolUse", payload=payload, tool=tool, tool_name=tool, kind=kind)


SHELL = before("Bash", "shell", command="rm -rf x", description="tidy")
WRITE = before("Write", "write", file_path="/p/a", content="x\n")
SEVERAL = before(
    "MultiEdit",
    "edit",
    file_path="/p/a",
    edits=[{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}],
)
PROMPT = Event(name="UserPromptSubmit", payload={"session_id": "s", "cwd": "/p", "prompt": "hi"})
STOP = Event(name="Stop", payload={"session_id": "s", "cwd": "/p"})
START = Event(name="SessionStart", payload={"session_id": "s", "cwd": "/p", "source": "startup"})


def spoken(written_for: str) -> ClientEmulation:
    emulation = emulation_for(written_for)
    assert emulation is not None
    return emulation


def answered(written_for: str, event: Event, stdout: str = "", stderr: str = "", code: int = 0) -> Outcome | None:
    emulation = spoken(written_for)
    (given,) = emulation.payloads_for(event, "/p")
    return emulation.answer(event, given, ProgramOutput(stdout, stderr, code))


@pytest.mark.parametrize(
    ("written_for", "event", "stdout", "effects"),
    [
        (
            "cursor:beforeShellExecution",
            SHELL,
            '{"permission":"deny","user_message":"u","agent_message":"a"}',
            Deny("a"),
        ),
        ("cursor:beforeShellExecution", SHELL, '{"permission":"ask","user_message":"u"}', Ask("u")),
        ("cursor:beforeShellExecution", SHELL, '{"permission":"allow"}', Allow("")),
        ("cursor:beforeShellExecution", SHELL, '{"additional_context":"x"}', None),  # not read there
        ("cursor:preToolUse", SHELL, '{"additional_context":"x"}', Note("x")),
        (
            "cursor:preToolUse",
            SHELL,
            '{"permission":"allow","updated_input":{"command":"ls"}}',
            (Allow(""), Rewrite({"command": "ls", "description": "tidy"})),
        ),
        ("cursor:beforeSubmitPrompt", PROMPT, '{"continue":false,"user_message":"no"}', Deny("no")),
        ("cursor:beforeSubmitPrompt", PROMPT, '{"continue":true}', None),
        ("cursor:stop", STOP, '{"followup_message":"go on"}', Deny("go on")),
        ("cursor:sessionStart", START, '{"env":{"A":"1"},"additional_context":"x"}', (Note("x"), Env({"A": "1"}))),
        ("cursor:sessionStart", START, '{"continue":false}', None),
        ("gemini:BeforeTool", SHELL, '{"decision":"deny","reason":"no"}', Deny("no")),
        ("gemini:BeforeTool", SHELL, '{"decision":"block","reason":"no"}', Deny("no")),
        (
            "gemini:BeforeTool",
            SHELL,
            '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"ls"}}}',
            Rewrite({"command": "ls", "description": "tidy"}),
        ),
        (
            "gemini:BeforeAgent",
            PROMPT,
            '{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"x"}}',
            Note("x"),
        ),
        ("gemini:BeforeAgent", PROMPT, "hello", Tell("hello")),
        ("gemini:BeforeAgent", PROMPT, '{"continue":false,"stopReason":"enough"}', Stop("enough")),
        ("gemini:AfterAgent", STOP, '{"decision":"deny","reason":"go on"}', Deny("go on")),
        ("copilot:preToolUse", SHELL, '{"permissionDecision":"deny","permissionDecisionReason":"no"}', Deny("no")),
        ("copilot:preToolUse", SHELL, '{"modifiedArgs":{"command":"ls"}}', Rewrite({"command": "ls"})),
        (
            "copilot:preToolUse",
            WRITE,
            '{"modifiedArgs":{"path":"/p/b","file_text":"x\\n"}}',
            Rewrite({"file_path": "/p/b", "content": "x\n"}),
        ),
        (
            "copilot:PreToolUse",
            WRITE,
            (
                '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",'
                '"updatedInput":{"path":"/p/b","file_text":"y"}}}'
            ),
            (Allow(""), Rewrite({"file_path": "/p/b", "content": "y"})),
        ),
        ("copilot:userPromptSubmitted", PROMPT, '{"additionalContext":"x"}', Note("x")),
        ("copilot:userPromptSubmitted", PROMPT, "just text", None),
        ("copilot:agentStop", STOP, '{"decision":"block","reason":"go on"}', Deny("go on")),
        (
            "codex:PreToolUse",
            SHELL,
            (
                '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",'
                '"updatedInput":{"command":"ls"}}}'
            ),
            (Allow(""), Rewrite({"command": "ls", "description": "tidy"})),
        ),
    ],
)
def test_an_answer_is_taken_as_its_client_takes_it(
    written_for: str, event: Event, stdout: str, effects: Effect | tuple[Effect, ...] | None
) -> None:
    outcome = answered(written_for, event, stdout)
    assert outcome is not None
    expected = effects if isinstance(effects, tuple) else () if effects is None else (effects,)
    assert (sorted(map(str, outcome.effects)), outcome.failure) == (sorted(map(str, expected)), None)


@pytest.mark.parametrize(
    ("written_for", "event", "code", "stderr", "effects", "failure"),
    [
        ("cursor:beforeShellExecution", SHELL, 2, "no", (Deny("no"),), ""),
        ("cursor:beforeShellExecution", SHELL, 1, "oops", (), "crash"),
        ("cursor:beforeSubmitPrompt", PROMPT, 2, "no", (Deny("no"),), ""),
        ("cursor:stop", STOP, 2, "no", (), ""),
        ("gemini:BeforeTool", SHELL, 2, "no", (Deny("no"),), ""),
        ("gemini:BeforeTool", SHELL, 3, "no", (Deny("no"),), ""),
        ("gemini:BeforeTool", SHELL, 3, "", (), "crash"),
        ("gemini:BeforeTool", SHELL, 1, "oops", (), "crash"),
        ("gemini:AfterAgent", STOP, 7, "oops", (), "crash"),
        ("copilot:preToolUse", SHELL, 2, "no", (Deny("no"),), ""),
        ("copilot:preToolUse", SHELL, 1, "oops", (Deny("oops"),), "crash"),
        ("copilot:agentStop", STOP, 2, "no", (), "crash"),
        ("copilot:Stop", STOP, 2, "no", (Deny("no"),), ""),
    ],
)
def test_an_exit_code_means_what_it_means_to_its_client(
    written_for: str, event: Event, code: int, stderr: str, effects: tuple[Effect, ...], failure: str
) -> None:
    outcome = answered(written_for, event, "", stderr, code)
    assert outcome is not None
    assert (outcome.effects, outcome.failure.kind if outcome.failure else "") == (effects, failure)


@pytest.mark.parametrize("stdout", ["fine!", "{", "[1]", '{"permission":"perhaps"}', '{"permission":1}', "{}{}"])
def test_cursor_refuses_what_a_permission_hook_answers_wrongly(stdout: str) -> None:
    outcome = answered("cursor:beforeShellExecution", SHELL, stdout)
    assert outcome is not None
    assert [type(effect) for effect in outcome.effects] == [Deny]
    assert outcome.failure is not None


@pytest.mark.parametrize(
    ("written_for", "event", "stdout"),
    [
        ("gemini:BeforeTool", SEVERAL, '{"hookSpecificOutput":{"tool_input":{"new_string":"z"}}}'),
        ("cursor:preToolUse", SEVERAL, '{"updated_input":{"new_string":"z"}}'),
        (
            "codex:PreToolUse",
            WRITE,
            (
                '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",'
                '"updatedInput":{"command":"*** Begin Patch"}}}'
            ),
        ),
        ("copilot:preToolUse", SHELL, '{"modifiedArgs":"ls"}'),
    ],
)
def test_a_change_that_cannot_be_carried_over_is_a_refusal(written_for: str, event: Event, stdout: str) -> None:
    outcome = answered(written_for, event, stdout)
    assert outcome is not None
    assert [type(effect) for effect in outcome.effects] == [Deny]


@pytest.mark.parametrize(
    ("written_for", "matcher", "event", "expected"),
    [
        ("cursor:beforeShellExecution", "rm -rf|mkfs", SHELL, True),
        ("cursor:beforeShellExecution", "curl", SHELL, False),
        ("cursor:preToolUse", "Shell|Read", SHELL, True),
        ("cursor:preToolUse", "Read", SHELL, False),
        ("cursor:preToolUse", "Bash", SHELL, False),  # no name of its
        ("cursor:preToolUse", "[", SHELL, True),
        ("cursor:preToolUse", "MCP:remember", before("mcp__memo__remember", "mcp", text="x"), True),
        ("gemini:BeforeTool", "shell", SHELL, True),
        ("gemini:BeforeTool", "^(?!run_shell_command)", SHELL, False),
        ("gemini:BeforeTool", "mcp_memo_.*", before("mcp__memo__remember", "mcp"), True),
        ("gemini:SessionStart", "startup", START, True),
        ("gemini:SessionStart", "start", START, False),
        ("copilot:preToolUse", "bash", SHELL, True),
        ("copilot:preToolUse", "ba", SHELL, False),
        ("copilot:PreToolUse", "Bash|Edit", SHELL, True),
        ("codex:PreToolUse", "Edit|Write", WRITE, True),
        ("codex:PreToolUse", "^apply_patch$", WRITE, True),
        ("codex:PreToolUse", "Edit", SHELL, False),
    ],
)
def test_a_matcher_reads_what_its_client_gives_it_to_read(
    written_for: str, matcher: str, event: Event, expected: bool
) -> None:
    emulation = spoken(written_for)
    (given,) = emulation.payloads_for(event, "/p")
    assert emulation.is_wanted(matcher, event, given) is expected


def test_every_file_of_a_patch_is_reported_for_itself() -> None:
    patch = "*** Begin Patch\n*** Add File: a\n+one\n*** Update File: b\n@@\n-x\n+y\n*** End Patch"
    event = Event(
        name="PostToolUse",
        payload={"cwd": "/p", "tool_name": "Edit", "tool_input": {"file_path": "a", "new_string": patch}},
        tool="Edit",
        kind="edit",
    )
    given = spoken("cursor:afterFileEdit").payloads_for(event, "/p")
    assert [(each["file_path"], each["edits"]) for each in given] == [
        ("/p/a", [{"old_string": "", "new_string": "one"}]),
        ("/p/b", [{"old_string": "x", "new_string": "y"}]),
    ]


def test_a_file_that_is_to_be_read_comes_with_its_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("secret\n", encoding="utf-8")
    event = before("Read", "read", file_path=str(tmp_path / "a.txt"))
    (given,) = spoken("cursor:beforeReadFile").payloads_for(event, str(tmp_path))
    assert (given["file_path"], given["content"]) == (str(tmp_path / "a.txt"), "secret\n")


def test_several_edits_are_one_with_all_of_their_text_where_a_client_has_no_such_tool() -> None:
    (given,) = spoken("gemini:BeforeTool").payloads_for(SEVERAL, "/p")
    assert given["tool_name"] == "replace"
    assert given["tool_input"] == {"file_path": "/p/a", "old_string": "a\nc", "new_string": "b\nd"}


def test_a_stop_hook_that_always_goes_on_ends_where_cursor_would_end_it() -> None:
    emulation = spoken("cursor:stop")
    counts = []
    for number in range(9):
        again = Event(name="Stop", payload={"session_id": "loop", "cwd": "/p", "stop_hook_active": number > 0})
        for given in emulation.payloads_for(again, "/p"):
            counts.append(given["loop_count"])
            emulation.answer(again, given, ProgramOutput('{"followup_message": "more"}'))
    assert counts == [0, 1, 2, 3, 4]
    first = Event(name="Stop", payload={"session_id": "loop", "cwd": "/p", "stop_hook_active": False})
    assert [given["loop_count"] for given in emulation.payloads_for(first, "/p")] == [0]


@pytest.mark.parametrize(
    ("written_for", "layer", "file", "folder"),
    [
        ("cursor:stop", "cursor:user", "/home/me/.cursor/hooks.json", "/home/me/.cursor"),
        ("cursor:stop", "cursor:project", "/p/.cursor/hooks.json", "/p"),
        ("copilot:agentStop", "copilot:project", "/p/.github/hooks/a.json", "/p"),
        ("copilot:agentStop", "copilot:project", "/p/.github/copilot/settings.json", "/p"),
        ("gemini:AfterAgent", "gemini:project", "/p/.gemini/settings.json", ""),
        ("cursor:stop", "user", "/home/me/.config/snell/snell.toml", ""),
    ],
)
def test_a_hook_starts_in_the_folder_where_its_client_starts_it(
    written_for: str, layer: str, file: str, folder: str
) -> None:
    hook = Hook(id="h", event="Stop", handler=Command("x"), source=Source(layer, file, 1))
    assert spoken(written_for).folder(hook) == folder


@pytest.mark.parametrize(
    ("written_for", "text"),
    [
        ("codex:PostToolUse", lambda given: given["tool_response"]),
        ("copilot:PostToolUse", lambda given: given["tool_result"]["text_result_for_llm"]),
        ("copilot:postToolUse", lambda given: given["toolResult"]["textResultForLlm"]),
        ("cursor:afterShellExecution", lambda given: given["output"]),
        ("gemini:AfterTool", lambda given: given["tool_response"]["error"]["message"]),
    ],
)
def test_a_command_that_fails_is_reported_as_its_client_reports_it(written_for: str, text: Any) -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": "false"}, "error": "Exit code 1", "cwd": "/p"}
    event = Event(name="PostToolUseFailure", payload=call, tool="Bash", kind="shell")
    (given,) = spoken(written_for).payloads_for(event, "/p")
    assert text(given) == "Exit code 1"
    assert given.get("hook_event_name", "PostToolUse") in ("PostToolUse", written_for.partition(":")[2])


@pytest.mark.parametrize("written_for", ["codex:PostToolUse", "copilot:PostToolUse", "copilot:postToolUse"])
def test_any_other_tool_that_fails_is_nothing_to_them(written_for: str) -> None:
    call = {"tool_name": "Read", "tool_input": {"file_path": "/x"}, "error": "no such file", "cwd": "/p"}
    event = Event(name="PostToolUseFailure", payload=call, tool="Read", kind="read")
    assert spoken(written_for).payloads_for(event, "/p") == []
