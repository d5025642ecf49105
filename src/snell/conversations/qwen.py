"""Qwen Code: one file per session. A result says whether the call was started."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snell.conversations.record import Conversation, at_of, rows_in, table, tables

PLACES = ("{base}/projects/*/chats/*.jsonl",)
_MARKERS = (b'"functionCall"', b'"tool_result"', b'"user"')


def read(path: Path) -> Iterator[Conversation]:
    found = Conversation(client="qwen", session_id=path.stem, path=str(path))
    for row in rows_in(found, path, *_MARKERS):
        found.version, found.cwd = str(row.get("version") or ""), found.cwd or str(row.get("cwd") or "")
        at = at_of(row.get("timestamp"))
        if row.get("type") == "assistant":
            for part in tables(table(row.get("message")).get("parts")):
                each = table(part.get("functionCall"))
                if each:
                    found.call(str(each.get("id") or ""), str(each.get("name")), each.get("args"), at)
        elif row.get("type") == "tool_result":
            _end_call(found, table(row.get("toolCallResult")), at)
        elif row.get("type") == "user" and row.get("provenance", "user_input") != "system":
            found.prompts += 1
    yield found


def _end_call(found: Conversation, result: Mapping[str, Any], at: int) -> None:
    call = found.find(result.get("callId"))
    if call is None:
        return
    call.ended, status = at, result.get("executionStatus")
    if status == "not_started" or result.get("status") == "cancelled":
        call.ran, call.why = False, f"the client did not start it ({result.get('errorType') or 'refused'})"
    elif status or result.get("status") == "success":
        call.ran = True
    else:
        call.why = "it failed, and the record does not say whether it ran"
