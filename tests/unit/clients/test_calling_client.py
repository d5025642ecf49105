"""Who is really calling, when a hook stands in another client's file."""

import json
from typing import Any

import pytest

from snell.clients import client_named
from snell.clients.protocol.calling_client import FIELDS_OF_OTHERS, bare_caller, calling_client
from snell.model.effects import Deny
from snell.model.events import Event
from snell.model.protocols import Reply
from snell.runtime.app import Runtime
from snell.runtime.hook_request import failure_reply, parse_hook_args
from tests.golden.reading import FOLDER, golden, golden_files, name_of, raw_payload
from tests.helpers import hook, policy

COPILOT_ENV = {"COPILOT_CLI": "1", "CLAUDE_PROJECT_DIR": "/home/dev/project"}


def received(file: str, claimed: str, env: dict[str, str] | None = None, event: str = "") -> tuple[str, Event]:
    words = ["--client", claimed, *(["--event", event] if event else [])]
    client, found = parse_hook_args(words).decode_payload(raw_payload(FOLDER / f"{file}.json"), "/home/dev", env or {})
    return client.name, found


@pytest.mark.parametrize(
    ("file", "env", "caller"),
    [
        ("cursor/PreToolUse", {}, "cursor"),
        ("cursor/Stop", {}, "cursor"),
        ("grok/PreToolUse", {}, "grok"),
        ("grok/SessionStart", {}, "grok"),
        ("copilot/PreToolUse", COPILOT_ENV, "copilot"),
        ("copilot/Stop", COPILOT_ENV, "copilot"),
        ("vscode_copilot/PreToolUse", {}, "vscode_copilot"),
        ("vscode_copilot/SessionStart", {}, "vscode_copilot"),
        ("claude_code/PreToolUse", {}, "claude_code"),
    ],
)
def test_a_hook_in_claudes_file_answers_the_client_that_runs_it(file: str, env: dict[str, str], caller: str) -> None:
    name, event = received(file, "claude-code", env)
    assert (name, event.client) == (caller, caller)


@pytest.mark.parametrize("path", golden_files("claude_code"), ids=name_of)
def test_claude_code_is_taken_for_itself_even_inside_another_agents_terminal(path: Any) -> None:
    payload = golden(path)["payload"]
    assert calling_client("claude_code", payload, {**COPILOT_ENV, "GROK_SESSION_ID": "g"}) == "claude_code"


def test_an_event_that_copilot_does_not_name_is_known_by_its_fields_where_the_command_has_lost_its_words() -> None:
    payload = raw_payload(FOLDER / "copilot/SubagentStart-subagent.json")
    ours, theirs = (
        parse_hook_args(words).decode_payload(payload, "/home/dev", COPILOT_ENV)[1]
        for words in (["--client", "copilot", "--event", "SubagentStart"], [])
    )
    assert theirs == ours


def test_a_client_whose_file_no_other_client_reads_is_believed() -> None:
    assert calling_client("gemini", {"cursor_version": "1"}, {}) == "gemini"


@pytest.mark.parametrize("claimed", ["claude_code", "copilot", "cursor"])
def test_a_payload_without_the_fields_of_others_is_from_the_named_client(claimed: str) -> None:
    for given in (golden(path)["payload"] for path in golden_files()):
        payload = {name: value for name, value in given.items() if name not in FIELDS_OF_OTHERS}
        assert calling_client(claimed, payload, COPILOT_ENV) == claimed


def test_the_same_call_through_two_files_is_decided_once() -> None:
    runs: list[str] = []

    def count(event: Event) -> Deny:
        runs.append(event.client)
        return Deny("no")

    runtime = Runtime.embed(hook("counter", count))
    replies = []
    for claimed in ("claude-code", "grok"):
        client, event = parse_hook_args(["--client", claimed]).decode_payload(
            raw_payload(FOLDER / "grok/PreToolUse.json"), "/", {}
        )
        replies.append(client.encode(runtime.decide(event)))
    assert runs == ["grok"]
    assert replies[0] == replies[1]


def test_the_event_is_taken_from_the_command_line_where_the_payload_does_not_say_it() -> None:
    name, event = received("antigravity/PreToolUse", "agy", event="PreToolUse")
    assert (name, event.name, event.tool, event.tool_input["command"]) == (
        "antigravity",
        "PreToolUse",
        "Bash",
        "echo shell-ran",
    )


def test_a_payload_names_its_event_better_than_the_command_line() -> None:
    assert received("cursor/Stop", "cursor", event="preToolUse")[1].name == "Stop"


@pytest.mark.parametrize(
    ("words", "payload", "blocks", "reply"),
    [
        # In Copilot a crash before a tool is a refusal, so a failure of ours ends well.
        (["--client", "copilot", "--event", "PreToolUse"], b"{", False, Reply(stderr=b"snell: broken")),
        (["--client", "cursor"], b'{"hook_event_name": "stop"', True, Reply(stdout=b"{}", stderr=b"snell: broken")),
        (
            ["--client", "antigravity", "--event=PreToolUse"],
            b"",
            False,
            Reply(b'{"decision":"ask"}', b"snell: broken"),
        ),
        (["--client", "windsurf"], b"\xff", True, Reply(stderr=b"snell: broken", exit_code=2)),
        (["--client", "unheard-of"], b"", False, Reply(stderr=b"snell: broken\n", exit_code=1)),
        ([], b"", True, Reply(stderr=b"snell: broken\n", exit_code=2)),
        (["--client", "claude"], b'{"hook_event_name": "Stop"', True, Reply(stderr=b"snell: broken\n", exit_code=1)),
    ],
)
def test_a_failure_is_said_in_the_words_of_the_client(
    words: list[str], payload: bytes, blocks: bool, reply: Reply
) -> None:
    assert failure_reply("snell: broken", payload, words, blocks=blocks) == reply


def test_a_guard_that_blocks_when_it_fails_blocks_what_cannot_be_read_in_every_client() -> None:
    runtime = Runtime.embed(policy("guard", Deny("no"), on_failure="block"))
    assert runtime.fails_closed("/")
    reply = failure_reply("snell: broken", b"{", ["--client", "cline"], blocks=runtime.fails_closed("/"))
    assert json.loads(reply.stdout) == {"cancel": True, "errorMessage": "snell: broken"}


def test_a_client_is_found_without_loading_the_others() -> None:
    assert client_named("Gemini CLI").name == "gemini"
    assert client_named("copilot").name == "copilot"


@pytest.mark.parametrize(
    ("file", "env", "caller", "name"),
    [
        ("copilot/PreToolUse", COPILOT_ENV, "copilot", "PreToolUse"),
        ("copilot/PermissionRequest", COPILOT_ENV, "copilot", "PermissionRequest"),
        ("cursor/Stop", {}, "cursor", "Stop"),
        ("claude_code/PreToolUse", {}, "generic", "PreToolUse"),
        ("claude_code/PreToolUse", COPILOT_ENV, "generic", "PreToolUse"),
    ],
)
def test_a_client_that_leaves_our_arguments_out_is_known_by_its_payload(
    file: str, env: dict[str, str], caller: str, name: str
) -> None:
    client, event = parse_hook_args([]).decode_payload(raw_payload(FOLDER / f"{file}.json"), "/home/dev", env)
    assert (client.name, event.client, event.name) == (caller, caller, name)


def test_what_is_not_json_comes_from_no_known_client() -> None:
    assert [bare_caller(raw, COPILOT_ENV) for raw in (b"", b"[1]", b'{"a":', b"\xff")] == ["", "", "", ""]
