"""
Event: what happened, in one form whatever client reported it.

The payload is kept complete and Claude-shaped, so that fields which Snell does not know yet still reach hooks. What
the engine and most hooks ask for is available as attributes.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.model.call_contents import CallContents, contents_of
from snell.model.catalogue import CATALOGUE, UNKNOWN, EventRow, row_of
from snell.model.command_lines import PLAIN_SHELLS, command_line, with_line
from snell.model.tools import KINDS, alias_of, kind_of, kinds_of, names_of

Payload = dict[str, Any]

DEEPEST = 100  # levels of nesting; deeper than any client sends, and far from the end of the stack
TOO_DEEP = "too-deep"  # the flag of an event whose payload had more levels: the deeper ones are text in it


class Event(Struct, frozen=True, kw_only=True, dict=True):
    """One event. What is read from the payload is kept: several hooks ask for the same on every event."""

    name: str
    payload: Payload  # INVARIANT: never changed in place; a rewrite makes a new event
    client: str = "generic"
    tool: str = ""  # Claude Code's name for the tool
    tool_name: str = ""  # the client's own name for it
    kind: str = ""  # one of `ALL_KINDS`, such as shell, edit, read, mcp or other; empty when no tool is involved
    flags: tuple[str, ...] = ()  # what decoding had to repair, such as "invalid-utf8"
    lineage: tuple[str, ...] = ()  # in an embedding program: the session, then the sub-agents down to this one
    takes_notes: bool = True  # False: this client drops a note here, but takes one at another event

    def __post_init__(self) -> None:
        """Read at once what every event is asked for; `cached_property` looks here first."""
        payload, known = self.payload, self.__dict__
        for field in _READ_AT_ONCE:
            value = payload.get(field)
            known[field] = value if isinstance(value, str) else ""
        given = payload.get("tool_input")
        known["tool_input"] = given if isinstance(given, dict) else {}
        known["row"] = CATALOGUE.get(self.name, UNKNOWN)
        line = known["tool_input"].get("command")
        if self.kind == "shell" and (self.tool_name or self.tool) in PLAIN_SHELLS and isinstance(line, str):
            known["command"] = line

    @cached_property
    def row(self) -> EventRow:
        return row_of(self.name)

    @cached_property
    def session_id(self) -> str:
        return text_in(self.payload, "session_id")

    @cached_property
    def cwd(self) -> str:
        return text_in(self.payload, "cwd")

    @cached_property
    def tool_use_id(self) -> str:
        return text_in(self.payload, "tool_use_id")

    @cached_property
    def tool_input(self) -> Payload:
        given = self.payload.get("tool_input")
        return given if isinstance(given, dict) else {}

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Return every kind of this call; the first is `kind`."""
        return kinds_of(self.tool, self.kind, self.payload.get("tool_input")) if self.kind == "mcp" else (self.kind,)

    @cached_property
    def tool_names(self) -> tuple[str, ...]:
        """Return every name under which a matcher may find this call; a shell call is `Bash` too."""
        names = names_of(self.tool, self.tool_name)
        if self.tool in KINDS or not names:
            return names
        return tuple(dict.fromkeys((*names, *alias_of(self.tool, self.kinds))))

    @cached_property
    def contents(self) -> CallContents:
        """Return the files, addresses, SQL and programs that the tool input names or holds."""
        return contents_of(self.tool_name or self.tool, self.payload.get("tool_input"))

    @cached_property
    def command(self) -> str:
        """Return the command line of a shell call, whatever field holds it; empty for any other call."""
        if self.kind != "shell" and "shell" not in self.kinds:
            return ""
        return command_line(self.tool_name or self.tool, self.payload.get("tool_input"))

    @property
    def readable_input(self) -> Payload:
        """Return the tool input with the command line as text under `command`, where hooks look for it."""
        given, line = self.tool_input, self.command
        return {**given, "command": line} if line and given.get("command") != line else given

    def with_command(self, line: str) -> Any:
        """Return the tool input with another command line in the field of the old one; None without such a field."""
        return with_line(self.tool_name or self.tool, self.payload.get("tool_input"), line)

    @property
    def tool_response(self) -> Any:
        return self.payload.get("tool_response")

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
        """Return whether the turn goes on because a Stop hook asked for it."""
        return self.payload.get("stop_hook_active") is True

    @property
    def rewritable(self) -> Any:
        """Return the value that a Rewrite would replace here."""
        return self.payload.get(self.row.rewrites)

    def rewritten(self, value: Any) -> "Event":
        """Return the same event with the rewritable value replaced."""
        return replace(self, payload={**self.payload, self.row.rewrites: value})


_READ_AT_ONCE = ("session_id", "cwd", "tool_use_id")


def session_scope(event: Event) -> str:
    """Return the scope of marks that are dropped when the session ends."""
    return f"session:{event.session_id}"


def persistent_scope(session_id: str) -> str:
    """Return the scope of marks that a resumed session keeps: limits, and what a user set. See `session_scope`."""
    return f"lasting:{session_id}"


def event_from(payload: Payload, name: str, client: str = "generic", flags: tuple[str, ...] = ()) -> Event:
    """Return the event that a Claude-shaped payload reports."""
    tool = text_in(payload, "tool_name")
    kind = KINDS.get(tool) or kind_of(tool, payload.get("tool_input"))
    return Event(name=name, payload=payload, client=client, tool=tool, tool_name=tool, kind=kind, flags=flags)


def as_table(value: Any) -> dict[str, Any]:
    """Return a value that should be an object; an empty one if it is something else."""
    return value if isinstance(value, dict) else {}


def as_tables(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a value that should be a list of them."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """Return a text, or the texts in a list of content parts."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else ()
    texts = (each.get("text") if isinstance(each, dict) else each for each in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def value_at(value: Any, path: Iterable[str]) -> Any:
    """Return the value at a path of keys in nested mappings; None if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def text_in(payload: Payload, field: str) -> str:
    """Return a field as text; empty when it is absent or not text, since clients send null where nothing applies."""
    value = payload.get(field)
    return value if isinstance(value, str) else ""


def nests_deeper_than(levels: int, value: Any) -> bool:
    """Return whether a value has more levels than this. Not recursive, since a deep value would exceed the stack."""
    level = [value]
    for _ in range(levels):
        inner = [each for each in level if isinstance(each, dict | list | tuple)]
        level = [part for each in inner for part in (each.values() if isinstance(each, dict) else each)]
        if not level:
            return False
    return any(isinstance(each, dict | list | tuple) for each in level)


def json_equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal as JSON: `True` is not `1`, and the order of keys does not matter."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(json_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(json_equal, one, other))
    return type(one) is type(other) and bool(one == other)
