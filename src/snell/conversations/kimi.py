"""Kimi Code: one folder per session, and in it one file per agent."""

from collections.abc import Iterator
from pathlib import Path

from snell.conversations.record import Conversation, rows_in, timestamp_of
from snell.model.events import as_table

PLACES = ("{base}/sessions/*/*/agents/*/wire.jsonl",)
_MARKERS = (b'"tool.call"', b'"tool.result"', b'"turn.prompt"')


def read(path: Path) -> Iterator[Conversation]:
    agent = path.parent.name if path.parent.name != "main" else ""
    found = Conversation(client="kimi", session_id=path.parents[2].name, path=str(path))
    if agent:
        found.agents.add(agent)
    for row in rows_in(found, path, *_MARKERS):
        event, at = as_table(row.get("event")), timestamp_of(row.get("time"))
        number = str(event.get("toolCallId") or "")
        if row.get("type") == "turn.prompt":
            found.prompts += not agent and as_table(row.get("origin")).get("kind") == "user"
        elif event.get("type") == "tool.call":
            found.call(number, str(event.get("name")), event.get("args"), at, agent)
        elif event.get("type") == "tool.result" and (call := found.find(number)):
            result = as_table(event.get("result"))
            is_unknown = result.get("output") == f'Tool "{call.tool}" not found'
            call.end(at, False if is_unknown else None if result.get("isError") else True)
    yield found
