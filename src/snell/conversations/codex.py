"""Codex: one file per thread. A sub-agent is a thread of its own, which names the session that it belongs to."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snell.conversations.record import Conversation, rows_in, timestamp_of
from snell.model.events import as_table, text_of
from snell.system.json_input import json_or_none

PLACES = ("{base}/sessions/*/*/*/rollout-*.jsonl",)
_MARKERS = (b'"session_meta"', b"_call", b'"user_message"')
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_ON_SERVER = ("web_search_call", "image_generation_call")
_UNREPORTED = {"write_stdin": "the client reports no event when text goes to a program that is already running"}
_REFUSED = ("unsupported call", "Command blocked by", "failed to parse", "exec command rejected", "rejected", "aborted")


def read(path: Path) -> Iterator[Conversation]:
    found = Conversation(client="codex", session_id=path.stem[-36:], path=str(path))
    agent, has_begun = "", False
    for row in rows_in(found, path, *_MARKERS):
        payload = as_table(row.get("payload"))
        if row.get("type") == "session_meta" and has_begun:
            found.continues.add(str(payload.get("session_id") or payload.get("id")))  # a fork repeats its parent
        elif row.get("type") == "session_meta":
            agent, has_begun = _begin(found, payload), True
        elif row.get("type") == "response_item":
            _add_item(found, payload, timestamp_of(row.get("timestamp")), agent)
        elif payload.get("type") == "user_message" and not agent:
            found.prompts += 1
    yield found


def _begin(found: Conversation, payload: Mapping[str, Any]) -> str:
    """Take the session from the head of a file; returns the sub-agent if it is one's."""
    thread = str(payload.get("id") or found.session_id)
    found.session_id = str(payload.get("session_id") or thread)
    found.cwd, found.version = str(payload.get("cwd") or ""), str(payload.get("cli_version") or "")
    source = as_table(payload.get("source"))
    if "subagent" not in source and thread == found.session_id:
        return ""
    found.agents.add(thread)
    return thread


def _add_item(found: Conversation, payload: Mapping[str, Any], at: int, agent: str) -> None:
    kind, number = str(payload.get("type")), str(payload.get("call_id") or payload.get("id") or "")
    if kind in _CALLS:
        given = payload.get("arguments") or payload.get("input") or payload.get("action")
        given = json_or_none(given.encode()) or given if isinstance(given, str) else given
        name = str(payload.get("name") or "local_shell")
        found.call(number, name, given, at, agent).unreported = _UNREPORTED.get(name, "")
    elif kind in _ON_SERVER:
        call = found.call(number, kind.removesuffix("_call"), payload.get("action"), at, agent)
        call.ran, call.unreported = True, "the model's server runs this tool, not the client"
    elif kind.endswith("_output") and (known := found.find(number)):
        known.end(at, not text_of(payload.get("output")).startswith(_REFUSED))
