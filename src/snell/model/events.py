"""
Event: what happened, in one shape whatever client reported it.

The payload is kept whole and Claude-shaped, so fields that nobody knows yet still reach hooks. What the engine and
most hooks ask for is available as attributes.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.model.catalogue import EventRow, row_of
from snell.model.tools import kind_of

Payload = dict[str, Any]

DEEPEST = 100  # levels of nesting; deeper than any client sends, and far from the end of the stack
TOO_DEEP = "too-deep"  # the flag of an event whose payload had more: what was beyond is text in it


class Event(Struct, frozen=True, kw_only=True):
    name: str
    payload: Payload  # INVARIANT: never changed in place; a rewrite makes a new event
    client: str = "generic"
    tool: str = ""  # Claude Code's name for the tool
    tool_name: str = ""  # the client's own name for it
    kind: str = ""  # shell, edit, write, read, search, web, mcp, agent, skill, other; empty when no tool is involved
    flags: tuple[str, ...] = ()  # what decoding had to mend, such as "invalid-utf8"
    lineage: tuple[str, ...] = ()  # in an embedding program: the session, then the sub-agents down to this one
    takes_notes: bool = True  # False: this client drops a note here, but takes one at another event

    @property
    def row(self) -> EventRow:
        return row_of(self.name)

    @property
    def session_id(self) -> str:
        return text_in(self.payload, "session_id")

    @property
    def cwd(self) -> str:
        return text_in(self.payload, "cwd")

    @property
    def tool_input(self) -> Payload:
        given = self.payload.get("tool_input")
        return given if isinstance(given, dict) else {}

    @property
    def tool_response(self) -> Any:
        return self.payload.get("tool_response")

    @property
    def tool_use_id(self) -> str:
        return text_in(self.payload, "tool_use_id")

    @property
    def prompt(self) -> str:
        return text_in(self.payload, "prompt")

    @property
    def agent_id(self) -> str:
        return text_in(self.payload, "agent_id")

    @property
    def transcript_path(self) -> str:
        return text_in(self.payload, "transcript_path")

    @property
    def is_continuation(self) -> bool:
        """The turn goes on because a Stop hook asked for it."""
        return self.payload.get("stop_hook_active") is True

    @property
    def rewritable(self) -> Any:
        """The value that a Rewrite would replace here."""
        return self.payload.get(self.row.rewrites)

    def rewritten(self, value: Any) -> "Event":
        """The same event with the rewritable value replaced."""
        return replace(self, payload={**self.payload, self.row.rewrites: value})


def event_from(payload: Payload, name: str, client: str = "generic") -> Event:
    """An event from a Claude-shaped payload."""
    tool = text_in(payload, "tool_name")
    return Event(name=name, payload=payload, client=client, tool=tool, tool_name=tool, kind=kind_of(tool))


def text_in(payload: Payload, field: str) -> str:
    """A field as text; empty when it is absent or not text, since clients send null where nothing applies."""
    value = payload.get(field)
    return value if isinstance(value, str) else ""


def nests_deeper_than(levels: int, value: Any) -> bool:
    """Without recursion, since what is too deep for that is what this is about."""
    level = [value]
    for _ in range(levels):
        inner = [each for each in level if isinstance(each, dict | list | tuple)]
        level = [part for each in inner for part in (each.values() if isinstance(each, dict) else each)]
        if not level:
            return False
    return any(isinstance(each, dict | list | tuple) for each in level)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: `True` is not `1`, and the order of keys does not matter."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)
