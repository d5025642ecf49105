"""Read the transcripts of clients as events to decide again; no hook of Snell needs to have seen them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from snell.clients import client_named
from snell.clients.protocol.tool_inputs import claude_input, claude_tool
from snell.conversations import READERS, conversations_in, conversations_of
from snell.conversations.record import Conversation, RecordedCall
from snell.model.errors import SnellError
from snell.model.tools import kind_of
from snell.replay.decisions import EventFilter
from snell.replay.recorded_event import RecordedEvent
from snell.setup.plan import Site

_HOME = re.compile(r"/(?:home|Users)/[^/]+|/root")


def transcript_sessions(asked: EventFilter, site: Site, folder: str = "") -> Iterator[list[RecordedEvent]]:
    """Yield the calls of each conversation: of the clients' own folders, or of all files below a folder."""
    for conversation in _conversations(asked, site, folder):
        calls = [call for call in conversation.calls if not call.at or call.at >= asked.since or folder]
        events = [each for call in calls if not call.unreported for each in _events(conversation, call)]
        events += [_unread_part(conversation)] * conversation.unread_lines
        if events and asked.wants(conversation.session_id, conversation.client):
            yield events


def _unread_part(conversation: Conversation) -> RecordedEvent:
    """Return an event in place of what cannot be read, so that it is counted."""
    unknown = "a part of the transcript is damaged or too long, or the file is a link or not of this user"
    return RecordedEvent(
        name="PreToolUse", payload={}, client=conversation.client, session=conversation.session_id, unknown=unknown
    )


def _conversations(asked: EventFilter, site: Site, folder: str) -> Iterator[Conversation]:
    if folder:
        if not Path(folder).exists():
            raise SnellError(f"`{folder}` does not exist", advice="name a folder or a file of transcripts")
        yield from conversations_in(Path(folder), asked.client)
        return
    if asked.client and asked.client not in READERS:
        raise SnellError(f"transcripts of `{asked.client}` cannot be read", advice=f"known: {', '.join(READERS)}")
    for client in [asked.client] if asked.client else READERS:
        yield from conversations_of(client, site, asked.since)


def _events(conversation: Conversation, call: RecordedCall) -> Sequence[RecordedEvent]:
    """Return the call, and its end if it ran: hooks remember what earlier calls did."""
    table = client_named(conversation.client).table
    tool = claude_tool(table, call.tool, call.given) if table else call.tool
    given: Any = call.given
    if table and isinstance(given, dict):
        given = claude_input(table, call.tool, given)[0]
    payload = {
        "session_id": conversation.session_id,
        "cwd": conversation.cwd,
        "tool_name": tool,
        "tool_use_id": call.number,
        "tool_input": given if isinstance(given, dict) else {},
        **({"agent_id": call.agent} if call.agent else {}),
    }
    home = _HOME.match(conversation.cwd)
    before = RecordedEvent(
        name="PreToolUse",
        payload={**payload, "hook_event_name": "PreToolUse"},
        client=conversation.client,
        session=conversation.session_id,
        at=call.at,
        number=call.number,
        tool=tool,
        tool_name=call.tool,
        kind=kind_of(tool, given),
        home=home[0] if home else "",
        unknown="" if isinstance(given, dict) else "the transcript has no input of this call",
    )
    if not call.ran:
        return [before]
    after = {**payload, "hook_event_name": "PostToolUse", "tool_response": {}}
    end = replace(before, name="PostToolUse", payload=after, at=call.ended or call.at, is_counted=False)
    return [before, end]
