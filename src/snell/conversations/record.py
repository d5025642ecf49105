"""
Conversations and their tool calls as clients recorded them, in one form for all clients.

A reader beside this file makes these from the files of one client. Times are milliseconds since 1970.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from snell.model.errors import SnellError
from snell.system.files import read_capped
from snell.system.json_input import json_or_none
from snell.system.transcripts import is_readable, lines_since

MOST_BYTES = 4 * 1024**3  # of one file
LONGEST_LINE = 32 * 1024**2  # a result with a picture takes a few megabytes
LATEST = 253_402_300_800_000  # the year 10000, which no date has
_WHY = {
    True: "",
    False: "the client refused it before it ran",
    None: "it failed, and the record does not say whether it ran",
}
_DURATION = re.compile(r"(\d{1,5})([mhdw])")
_MINUTES = {"m": 1, "h": 60, "d": 1_440, "w": 10_080}


class RecordedCall(Struct, kw_only=True):
    """One tool call, as the client recorded it."""

    tool: str
    number: str = ""  # the client's id of the call
    at: int = 0
    ended: int = 0
    agent: str = ""  # the sub-agent that made it
    given: Any = None  # its input
    ran: bool | None = None  # None: the record does not tell
    why: str = ""  # why it did not run, or why that is unknown
    hook_failure: str = ""  # what the client says about a hook of Snell that failed before this call
    unreported: str = ""  # why the client reports no event for it
    hook_session: str = ""  # the session that hooks are told, if it is another one: that of a sub-agent

    def end(self, at: int, ran: bool | None, why: str = "") -> None:
        """Note when the call ended, whether it ran, and if that is not sure, why."""
        self.ended, self.ran, self.why = at, ran, why or _WHY[ran]


class Conversation(Struct, kw_only=True):
    """One conversation of a client, with its sub-agents."""

    client: str
    session_id: str
    path: str
    cwd: str = ""
    version: str = ""  # of the client
    calls: list[RecordedCall] = []
    prompts: int = 0
    agents: set[str] = field(default_factory=set)
    continues: set[str] = field(default_factory=set)  # the sessions whose calls it repeats
    unread_lines: int = 0
    by_number: dict[str, RecordedCall] = field(default_factory=dict)

    def call(self, number: str, tool: str, given: Any, at: int, agent: str = "") -> RecordedCall:
        """Add a call, or return the one that has this number; some models give later calls the number again."""
        known = self.by_number.get(number)
        if known is None or (known.at < at and 0 < known.ended < at):
            known = RecordedCall(tool=tool, number=number, given=given, at=at, agent=agent)
            self.calls.append(known)
            if number:
                self.by_number[number] = known
        return known

    def find(self, number: object) -> RecordedCall | None:
        return self.by_number.get(number) if isinstance(number, str) else None


def rows_in(conversation: Conversation, path: Path, *markers: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects in the lines of a transcript that contain one of the markers; count what cannot be read."""
    try:
        lines = lines_since(str(path), 0, MOST_BYTES, LONGEST_LINE) if is_readable(str(path)) else iter([(b"", 0)])
        for line, _ in lines:
            is_wanted = any(marker in line for marker in markers)
            row = json_or_none(line.removeprefix(BOM_UTF8)) if is_wanted else None
            conversation.unread_lines += not line or (is_wanted and row is None)
            if isinstance(row, dict):
                yield row
    except OSError:  # it may not be read, or was deleted just now
        conversation.unread_lines += 1


def document_in(conversation: Conversation, path: Path) -> Iterator[dict[str, Any]]:
    """Yield the object in a transcript that is one JSON document; count it if it cannot be read."""
    row = None
    with suppress(OSError, SnellError):
        row = json_or_none(read_capped(path, LONGEST_LINE, follow_links=False)) if is_readable(str(path)) else None
    if isinstance(row, dict):
        yield row
    else:
        conversation.unread_lines += 1


def timestamp_of(value: object) -> int:
    """Return a time of a client, a number or a text, in milliseconds; 0 if it is none."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float):
            value = datetime.fromisoformat(str(value)).timestamp() * 1000
        at = int(value)
    except (ValueError, OverflowError):
        return 0
    return at if 0 < at < LATEST else 0


def duration_ms(text: str) -> int:
    """Return a duration such as `7d`, `12h`, `30m` or `2w`. Raises SnellError for any other text."""
    found = _DURATION.fullmatch(text.strip())
    if not found or not int(found[1]):
        raise SnellError(f"`--since {text}` is not a duration", advice="write it like 7d, 12h, 30m or 2w")
    return int(found[1]) * _MINUTES[found[2]] * 60_000
