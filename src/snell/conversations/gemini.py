"""Gemini CLI: one file per session. A message is written again, with its number, when its tool calls have ended."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snell.conversations.record import Conversation, at_of, rows_in, table, tables

PLACES = ("{base}/tmp/*/chats/**/*.jsonl",)
_MARKERS = (b'"toolCalls"', b'"sessionId"', b'"user"')
_CONTEXT = "<session_context>"


def read(path: Path) -> Iterator[Conversation]:
    found = Conversation(client="gemini", session_id="", path=str(path))
    prompts: set[str] = set()
    for row in rows_in(found, path, *_MARKERS):
        found.session_id = found.session_id or str(row.get("sessionId") or "")
        for message in (row, *tables(table(row.get("$set")).get("messages"))):
            if message.get("type") == "user" and _is_typed(message):
                prompts.add(str(message.get("id")))
            for each in tables(message.get("toolCalls")):
                _add_call(found, each, at_of(message.get("timestamp")))
    found.prompts = len(prompts)
    if found.session_id or found.unread_lines:
        yield found


def _is_typed(message: Mapping[str, Any]) -> bool:
    texts = [str(each.get("text") or "") for each in tables(message.get("content"))]
    return any(text and not text.startswith(_CONTEXT) for text in texts)


def _add_call(found: Conversation, each: Mapping[str, Any], at: int) -> None:
    call = found.call(str(each.get("id") or ""), str(each.get("name")), each.get("args"), at)
    if each.get("status") not in ("success", "error", "cancelled"):
        return
    call.ended = at_of(each.get("timestamp"))
    response = str(each.get("resultDisplay") or "")
    if each["status"] == "success":
        call.ran = True
    elif each["status"] == "cancelled" or response.startswith("Tool execution blocked"):
        call.ran, call.why = False, "the client refused it, or its user did"
    else:
        call.why = "it failed, and the record does not say whether it ran"
