"""Copilot CLI: one folder per session, with the calls of sub-agents. Hooks know a sub-agent as a session of its own."""

from collections.abc import Iterator
from pathlib import Path

from snell.conversations.record import Conversation, rows_in, timestamp_of
from snell.model.events import as_table

PLACES = ("{base}/session-state/*/events.jsonl",)
_MARKERS = (b'"tool.execution_', b'"session.start"', b'"user.message"')
_REFUSED = ("denied", "rejected", "invalid_arguments", "tool_not_found")


def read(path: Path) -> Iterator[Conversation]:
    found = Conversation(client="copilot", session_id=path.parent.name, path=str(path))
    for row in rows_in(found, path, *_MARKERS):
        data, at = as_table(row.get("data")), timestamp_of(row.get("timestamp"))
        number = str(data.get("toolCallId") or "")
        if row.get("type") == "session.start":
            found.version = str(data.get("copilotVersion") or "")
            found.cwd = str(as_table(data.get("context")).get("cwd") or "")
        elif row.get("type") == "user.message":
            found.prompts += 1
        elif row.get("type") == "tool.execution_start":
            agent = str(data.get("parentToolCallId") or "")
            call = found.call(number, str(data.get("toolName")), data.get("arguments"), at, agent)
            call.hook_session = str(row.get("agentId") or "")
            found.agents |= {agent} - {""}
        elif row.get("type") == "tool.execution_complete" and (known := found.find(number)):
            code = as_table(data.get("error")).get("code")
            if code in _REFUSED and not data.get("success"):
                known.end(at, False, f"the client refused it ({code})")
            else:
                known.end(at, True if data.get("success") else None)
    yield found
