"""The fields that every payload has, however they are spelt."""

import json

import pytest

from snell.clients import client_named
from snell.model.events import Event

COMMON = {"session_id": "7", "transcript_path": "/t", "cwd": "/w", "permission_mode": "plan"}


def decoded(**fields: object) -> Event:
    return client_named("generic").decode(json.dumps(fields).encode())


@pytest.mark.proves("S2-41")
def test_a_session_is_known_by_the_clients_own_text_alone() -> None:
    sessions = [decoded(hook_event_name="Stop", session_id=given).session_id for given in ("7", 7, 7.0, True, None)]
    assert sessions == ["7", "", "", "", ""]


@pytest.mark.proves("S2-42")
def test_only_the_outermost_names_are_spelt_anew() -> None:
    inner = {"filePath": 1, "file_path": 2, "sessionId": {"toolName": "x"}}
    event = decoded(
        hookEventName="PostToolUse",
        sessionId="s",
        transcriptPath="/t",
        permissionMode="plan",
        toolName="Read",
        toolInput=inner,
        toolResponse=inner,
    )
    assert event.payload == {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "transcript_path": "/t",
        "permission_mode": "plan",
        "tool_name": "Read",
        "tool_input": inner,
        "tool_response": inner,
    }


@pytest.mark.proves("S2-43")
@pytest.mark.parametrize("client", ["claude_code", "generic"])
def test_an_event_has_its_own_fields_and_an_unknown_one_does_no_harm(client: str) -> None:
    payload = {**COMMON, "hook_event_name": "UserPromptSubmit", "prompt": "go", "brand_new": {"x": [1]}}
    event = client_named(client).decode(json.dumps(payload).encode())
    assert (event.name, event.prompt, event.session_id, event.cwd) == ("UserPromptSubmit", "go", "7", "/w")
    assert event.payload["brand_new"] == {"x": [1]}
