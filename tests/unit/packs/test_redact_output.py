"""Secrets in the results of tools: what each client's model is given instead, and what stays as it is."""

import base64
import json
import random
from typing import Any
from uuid import uuid4

import pytest
from msgspec.structs import replace

from snell.clients import client_named
from snell.model.events import Event
from snell.packs.redact_output.output import can_replace, without_secrets_in
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from tests.golden.reading import FOLDER, event_in, event_of, golden_files
from tests.seeds import draw_seed
from tests.unit.redact.measured_secrets import formats, leaks, password, value_of

DRAW = random.Random(draw_seed())
TOKEN = value_of(formats()["github classic"], DRAW)
PASSWORD = password(DRAW, 20)
PLANTED = f"\nDB_PASSWORD={PASSWORD}\nitem {TOKEN}\n"
CLIENTS = sorted(folder.name for folder in FOLDER.iterdir() if any(folder.glob("*.json")))
RESULTS = [(client, path) for client in CLIENTS for path in golden_files(client) if event_of(path) == "PostToolUse"]
RUNTIME = Runtime.embed(*pack_hooks("redact_output"))


def planted(value: Any) -> Any:
    """The same with secrets at the end of each text of several words or lines: what a tool has printed."""
    if isinstance(value, str):
        return value + PLANTED if any(map(str.isspace, value)) or not value else value
    if isinstance(value, dict):
        return {key: planted(each) for key, each in value.items()}
    return [planted(each) for each in value] if isinstance(value, list) else value


def form(value: Any) -> Any:
    """The keys and types of a result."""
    if isinstance(value, dict):
        return {key: form(each) for key, each in value.items()}
    return [form(each) for each in value] if isinstance(value, list) else type(value)


def anew(event: Event, **fields: Any) -> Event:
    return replace(event, payload={**event.payload, "session_id": uuid4().hex, "tool_use_id": uuid4().hex, **fields})


@pytest.mark.parametrize(("client", "path"), RESULTS, ids=[f"{client}-{path.stem}" for client, path in RESULTS])
def test_each_client_gets_a_result_without_secrets_or_a_note(client, path):
    event = event_in(path)
    result = planted(event.tool_response)
    if result == event.tool_response:
        result = f"printed {PLANTED}" if not isinstance(result, dict) else {**result, "stdout": PLANTED}
    decision = RUNTIME.decide(anew(event, tool_response=result), uuid4().hex)
    reply = client_named(client).encode(decision)
    said = reply.stdout.decode() + reply.stderr.decode()
    assert not leaks(TOKEN, said)
    assert not leaks(PASSWORD, said)
    assert decision.is_rewritten is can_replace(client)
    if can_replace(client):
        assert form(decision.event.tool_response) == form(result)
        assert "[redacted:github-token]" in said
    else:
        noted = [str(outcome.effects) for _, hook, outcome in decision.runs() if "warn_about_secrets" in hook.id]
        assert ["github-token" in each and "Do not repeat" in each for each in noted] == [True]


@pytest.mark.parametrize(("client", "path"), RESULTS, ids=[f"{client}-{path.stem}" for client, path in RESULTS])
def test_a_result_without_secrets_is_answered_as_if_there_were_no_pack(client, path):
    event = anew(event_in(path))
    with_pack, without = (each.decide(event, uuid4().hex) for each in (RUNTIME, Runtime.embed()))
    encode = client_named(client).encode
    assert encode(replace(with_pack, id="")) == encode(replace(without, id=""))
    assert with_pack.event.tool_response is event.tool_response


def test_the_clients_that_can_replace_a_result():
    able = {client for client in CLIENTS if can_replace(client)}
    assert able == {"claude_code", "codex", "copilot", "gemini", "generic", "grok", "opencode", "pi"}


@pytest.mark.parametrize(
    "result",
    [
        {
            "type": "text",
            "file": {"filePath": "/p/.env", "content": f"PORT=3000\nDB_PASSWORD={PASSWORD}\n", "numLines": 2},
        },
        f"     1→PORT=3000\n     2→DB_PASSWORD={PASSWORD}\n     3→TOKEN={TOKEN}\n",
        [{"type": "text", "text": f"PORT=3000 {TOKEN}"}, {"type": "text", "text": f"--password {PASSWORD}"}],
        {"content": [{"type": "text", "text": f"PORT=3000 {TOKEN}"}], "structuredContent": {"password": PASSWORD}},
        {"stdout": f"PORT=3000\n\x1b[32mDB_PASSWORD\x1b[0m=\x1b[33m{PASSWORD}\x1b[0m", "stderr": TOKEN},
        {"output": list(f"PORT=3000\nDB_PASSWORD={PASSWORD}\n".encode())},
    ],
    ids=["Read", "Read with line numbers", "MCP content", "MCP structured content", "Bash in colours", "bytes"],
)
def test_results_of_every_form_keep_all_but_the_secret(result):
    done = without_secrets_in(result)
    shown = bytes(done["output"]).decode() if "output" in done else json.dumps(done, ensure_ascii=False)
    assert "PORT=3000" in shown
    assert not leaks(PASSWORD, shown)
    assert not leaks(TOKEN, shown)


@pytest.mark.parametrize(
    "result",
    [
        {"type": "image", "data": base64.b64encode(b"\x89PNG\r\n\x1a\n" + DRAW.randbytes(30_000)).decode()},
        {"items": [], "nextPageToken": "CAUQAApq2ef9", "continuation_token": "b2Zmc2V0OjEwMA=="},
        {"output": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]},
        {"stdout": "half a pair \ud83d here", "interrupted": False, "isImage": False},
        "see [redacted:password] above",
        None,
        "",
        3,
    ],
    ids=["picture", "page token", "numbers", "surrogate", "placeholder", "none", "empty", "number"],
)
def test_what_is_no_secret_stays_as_it_is(result):
    assert without_secrets_in(result) == result


def test_a_failed_call_gets_a_note_and_the_user_is_told_once():
    fields = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "x"}, "error": f"Exit code 1{PLANTED}"}
    first, second = (RUNTIME.fire("PostToolUseFailure", tool_use_id=name, **fields) for name in "ab")
    assert "github-token" in first.note
    assert "change it where it was issued" in first.tell
    assert (second.note, second.tell) == (first.note, "")


def test_a_tool_named_in_skip_keeps_its_results():
    runtime = Runtime.embed(*pack_hooks("redact_output", {"skip": ["mcp__vault__*"]}))
    call = {"session_id": "s", "tool_input": {}, "tool_response": TOKEN}
    skipped = runtime.fire("PostToolUse", tool_name="mcp__vault__read", tool_use_id="1", **call)
    other = runtime.fire("PostToolUse", tool_name="mcp__mail__read", tool_use_id="2", **call)
    assert (skipped.is_rewritten, other.event.tool_response) == (False, "[redacted:github-token]")
