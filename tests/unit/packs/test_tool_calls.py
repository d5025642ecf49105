"""The guard's bars on tool calls, written from the published inputs of MCP servers and of the clients' own tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from snell.clients import canonical_name, client_named
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from snell.store.in_memory import InMemoryStore

CALLS = Path(__file__).parent / "tool_calls"
FOLDER = "/home/dev/project"
EVENTS = {"kiro": "preToolUse", "cursor": "preToolUse", "copilot": "preToolUse", "gemini": "BeforeTool"}


def _payload(client: str, tool: str, given: Any) -> dict[str, Any]:
    if client == "cline":
        event = {"hookName": "tool_call", "taskId": "t", "workspaceRoots": [FOLDER]}
        return {**event, "tool_call": {"id": "c", "name": tool, "input": given}}
    named = {"hook_event_name": EVENTS.get(client, "PreToolUse"), "session_id": "s", "cwd": FOLDER}
    return {**named, "tool_name": tool, "tool_input": given}


def _verdict(row: dict[str, Any]) -> str:
    client = canonical_name(row["client"])
    event = client_named(client).decode(json.dumps(_payload(client, row["tool_name"], row["tool_input"])).encode())
    with Runtime.embed(*pack_hooks("guard"), marks=InMemoryStore()) as runtime:
        return runtime.decide(event).verdict.name


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CALLS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/dev")


def test_harmless_calls_are_left_alone():
    rows = _rows("harmless")
    servers = {row["tool_name"].split("__")[1] for row in rows if row["tool_name"].startswith("mcp__")}
    flagged = [row for row in rows if _verdict(row) in ("ASK", "DENY")]
    assert (len(rows) >= 200, len(servers) >= 40) == (True, True)
    assert len(flagged) <= 0.01 * len(rows), flagged


def test_dangerous_calls_are_flagged_and_mostly_denied():
    rows = _rows("dangerous")
    verdicts = [_verdict(row) for row in rows]
    missed = [row for row, verdict in zip(rows, verdicts, strict=True) if verdict not in ("ASK", "DENY")]
    assert len(missed) <= 0.1 * len(rows), missed
    assert verdicts.count("DENY") >= 0.75 * len(rows)
