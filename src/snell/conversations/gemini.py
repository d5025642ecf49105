"""
Gemini CLI: one file per session. A message is written again, with its number, when its tool calls have ended.

Earlier versions wrote one JSON document per session.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snell.conversations.record import Conversation, document_in, rows_in, timestamp_of
from snell.model.events import as_table, as_tables

PLACES = ("{base}/tmp/*/chats/**/*.jsonl", "{base}/tmp/*/chats/**/*.json")
_MARKERS = (b'"toolCalls"', b'"sessionId"', b'"user"')
_CONTEXT = "<session_context>"


def read(path: Path) -> Iterator[Conversation]:
    found = Conversation(client="gemini", session_id="", path=str(path))
    prompts: set[str] = set()
    agent = ""
    for row in rows_in(found, path, *_MARKERS) if path.suffix == ".jsonl" else document_in(found, path):
        if row.get("sessionId") and not found.session_id:
            agent = _begin(found, path, row)
        for message in (row, *as_tables(row.get("messages")), *as_tables(as_table(row.get("$set")).get("messages"))):
            if message.get("type") == "user" and _is_typed(message):
                prompts.add(str(message.get("id")))
            for each in as_tables(message.get("toolCalls")):
                _add_call(found, each, timestamp_of(message.get("timestamp")), agent)
    found.prompts = 0 if agent else len(prompts)
    if found.session_id or found.unread_lines:
        yield found


def _begin(found: Conversation, path: Path, row: Mapping[str, Any]) -> str:
    """Take the session from the head of a file; returns the sub-agent if it is one's, in the folder of its session."""
    found.session_id = str(row["sessionId"])
    if row.get("kind") != "subagent":
        return ""
    agent, found.session_id = found.session_id, path.parent.name
    found.agents.add(agent)
    return agent


def _is_typed(message: Mapping[str, Any]) -> bool:
    texts = [str(each.get("text") or "") for each in as_tables(message.get("content"))]
    return any(text and not text.startswith(_CONTEXT) for text in texts)


def _add_call(found: Conversation, each: Mapping[str, Any], at: int, agent: str) -> None:
    call = found.call(str(each.get("id") or ""), str(each.get("name")), each.get("args"), at, agent)
    if each.get("status") not in ("success", "error", "cancelled"):
        return
    at, response = timestamp_of(each.get("timestamp")), str(each.get("resultDisplay") or "")
    if each["status"] == "success":
        call.end(at, True)
    elif each["status"] == "cancelled" or response.startswith(("Tool execution blocked", f'Tool "{call.tool}" not')):
        call.end(at, False, "the client refused it, or its user did")
    else:
        call.end(at, None)
