"""Qwen Code: one file per session, and one for each sub-agent. A result says whether the call was started."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snell.conversations.record import Conversation, rows_in, timestamp_of
from snell.model.events import as_table, as_tables

PLACES = ("{base}/projects/*/chats/*.jsonl", "{base}/projects/*/subagents/*/agent-*.jsonl")
_MARKERS = (b'"functionCall"', b'"tool_result"', b'"user"')


def read(path: Path) -> Iterator[Conversation]:
    agent = path.stem.removeprefix("agent-") if path.stem.startswith("agent-") else ""
    found = Conversation(client="qwen", session_id=path.parent.name if agent else path.stem, path=str(path))
    if agent:
        found.agents.add(agent)
    for row in rows_in(found, path, *_MARKERS):
        found.version, found.cwd = str(row.get("version") or ""), found.cwd or str(row.get("cwd") or "")
        at = timestamp_of(row.get("timestamp"))
        if row.get("type") == "assistant":
            for part in as_tables(as_table(row.get("message")).get("parts")):
                each = as_table(part.get("functionCall"))
                if each:
                    found.call(str(each.get("id") or ""), str(each.get("name")), each.get("args"), at, agent)
        elif row.get("type") == "tool_result":
            _end_call(found, row, at)
        elif row.get("type") == "user" and row.get("provenance", "user_input") != "system":
            found.prompts += not agent
    yield found


def _end_call(found: Conversation, row: Mapping[str, Any], at: int) -> None:
    result = as_table(row.get("toolCallResult"))
    call = found.find(result.get("callId"))
    if call is None:
        return
    status = result.get("executionStatus")
    if status == "not_started" or result.get("status") == "cancelled":
        call.end(at, False, f"the client did not start it ({result.get('errorType') or 'refused'})")
    else:
        has_run = status or result.get("status") == "success" or (not result.get("status") and _has_output(row))
        call.end(at, True if has_run else None)


def _has_output(row: Mapping[str, Any]) -> bool:
    """Return whether the model was given an output; the results of a sub-agent say no more than that."""
    parts = as_tables(as_table(row.get("message")).get("parts"))
    responses = (as_table(each.get("functionResponse")) for each in parts)
    return any("output" in as_table(each.get("response")) for each in responses)
