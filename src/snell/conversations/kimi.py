"""Kimi Code: one folder per session, and in it one file per agent."""

from collections.abc import Iterator
from pathlib import Path

from snell.conversations.record import Conversation, at_of, rows_in, table

PLACES = ("{base}/sessions/*/*/agents/*/wire.jsonl",)
_MARKERS = (b'"tool.call"', b'"tool.result"', b'"turn.prompt"')


def read(path: Path) -> Iterator[Conversation]:
    agent = path.parent.name if path.parent.name != "main" else ""
    found = Conversation(client="kimi", session_id=path.parents[2].name, path=str(path))
    if agent:
        found.agents.add(agent)
    for row in rows_in(found, path, *_MARKERS):
        event, at = table(row.get("event")), at_of(row.get("time"))
        number = str(event.get("toolCallId") or "")
        if row.get("type") == "turn.prompt":
            found.prompts += not agent and table(row.get("origin")).get("kind") == "user"
        elif event.get("type") == "tool.call":
            found.call(number, str(event.get("name")), event.get("args"), at, agent)
        elif event.get("type") == "tool.result" and (call := found.find(number)):
            call.ended, result = at, table(event.get("result"))
            if result.get("output") == f'Tool "{call.tool}" not found':
                call.ran, call.why = False, "the client refused it before it ran"
            elif result.get("isError"):
                call.why = "it failed, and the record does not say whether it ran"
            else:
                call.ran = True
    yield found
