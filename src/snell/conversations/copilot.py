"""Copilot CLI: one folder per session, with the calls of sub-agents. Hooks know a sub-agent as a session of its own."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snell.conversations.record import Conversation, at_of, rows_in, table

PLACES = ("{base}/session-state/*/events.jsonl",)
_MARKERS = (b'"tool.execution_', b'"session.start"', b'"user.message"')
_REFUSED = ("denied", "rejected", "invalid_arguments", "tool_not_found")


def read(path: Path) -> Iterator[Conversation]:
    found = Conversation(client="copilot", session_id=path.parent.name, path=str(path))
    for row in rows_in(found, path, *_MARKERS):
        data, at = table(row.get("data")), at_of(row.get("timestamp"))
        number = str(data.get("toolCallId") or "")
        if row.get("type") == "session.start":
            found.version = str(data.get("copilotVersion") or "")
            found.cwd = str(table(data.get("context")).get("cwd") or "")
        elif row.get("type") == "user.message":
            found.prompts += 1
        elif row.get("type") == "tool.execution_start":
            agent = str(data.get("parentToolCallId") or "")
            call = found.call(number, str(data.get("toolName")), data.get("arguments"), at, agent)
            call.hook_session = str(row.get("agentId") or "")
            found.agents |= {agent} - {""}
        elif row.get("type") == "tool.execution_complete":
            _end_call(found, number, data, at)
    yield found


def _end_call(found: Conversation, number: str, data: Mapping[str, Any], at: int) -> None:
    call = found.find(number)
    if call is None:
        return
    call.ended, code = at, table(data.get("error")).get("code")
    if data.get("success"):
        call.ran = True
    elif code in _REFUSED:
        call.ran, call.why = False, f"the client refused it ({code})"
    else:
        call.why = "it failed, and the record does not say whether it ran"
