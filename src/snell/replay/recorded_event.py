"""One event to decide again, and what became of it; both travel between processes as MessagePack."""

from typing import Any

import msgspec
from msgspec import Struct

from snell.model.events import Event, Payload

REDACTED, CUT = "[redacted:", " more characters]"
NOT_WHOLE = "only events of tools and prompts are kept; `snell record on` keeps all"


class RecordedEvent(Struct, kw_only=True):
    """An event of the past. `is_counted` is false for one that is decided only for the marks that hooks leave."""

    name: str
    payload: Payload
    client: str
    session: str
    at: int = 0  # milliseconds since 1970
    id: str = ""  # of its decision; empty if there was none
    number: str = ""  # of its call, as the client counts
    tool: str = ""
    tool_name: str = ""
    kind: str = ""
    flags: tuple[str, ...] = ()
    verdict: str = "no_opinion"
    hooks: tuple[str, ...] = ()  # that gave this verdict
    rounds: bytes = b""  # of its trace: which hooks ran, as JSON
    unknown: str = ""  # why it cannot be decided again
    home: str = ""  # the home folder of its user, if that is another one
    files: dict[str, str] = {}  # kind of each file that it names, as it was then
    marks: dict[str, Any] | None = None  # of its session after this event
    is_counted: bool = True

    def to_event(self) -> Event:
        return Event(
            name=self.name,
            payload=self.payload,
            client=self.client,
            tool=self.tool,
            tool_name=self.tool_name,
            kind=self.kind,
            flags=self.flags,
        )


class Replayed(Struct, kw_only=True, frozen=True):
    """What became of one event. `result` is one of RESULTS in `compare.py`."""

    session: str
    client: str
    name: str
    tool: str
    at: int
    id: str
    number: str
    before: str
    after: str
    result: str
    given: str = ""  # a short text of the input, redacted
    hook: str = ""
    cause: str = ""  # the rule or reason in one line, without what is special to this call
    why: str = ""  # the whole reason; or why it cannot be replayed


class SessionResult(Struct, frozen=True):
    """The events of one session that were decided again, and how often hooks were skipped."""

    events: list[Replayed]
    skipped: dict[str, int] = {}
    failed: dict[str, int] = {}


pack_events = msgspec.msgpack.Encoder(enc_hook=str).encode
unpack_events = msgspec.msgpack.Decoder(list[RecordedEvent]).decode


def why_incomplete(value: Any) -> str:
    """Return why a value is not what the hook got: a secret was removed from it, or its text was cut."""
    if isinstance(value, str):
        if REDACTED in value:
            return "a value was redacted"
        return "a long text was cut" if value.endswith(CUT) and "… [" in value else ""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next((why for key, each in inner if (why := why_incomplete(each) or why_incomplete(key))), "")
