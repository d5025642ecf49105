"""Protocols: what the inner rooms ask of the outer ones."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct

from snell.model.decision import Decision, Outcome
from snell.model.events import Event, Payload
from snell.model.hooks import Hook

if TYPE_CHECKING:
    from snell.model.installs import Install

T = TypeVar("T")


class Reply(Struct, frozen=True):
    """What one client gets back: bytes, stderr and exit code."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a client can do with an answer; tiers and `doctor` are derived from this."""

    hooks: bool = True  # it calls hooks at all
    native: bool = True  # under Claude's event names, so that files written for Claude Code are understood
    plugin: bool = False  # only through a plugin in its own language, which calls us
    deny: bool = True  # a tool call can be refused
    ask: bool = True  # the user can be asked about a tool call
    rewrite: bool = True  # a tool call can be changed
    note: bool = True  # the model can be given text
    stop: bool = True  # the agent can be kept from stopping
    prompt_block: bool = True  # a prompt can be refused
    mcp: bool = True
    rules: bool = True  # it reads a file of instructions


def tier_of(capabilities: Capabilities) -> int:
    """1: hooks in Claude's own terms; 2: hooks that an adapter or a plugin translates; 3: only MCP and rules."""
    if not capabilities.hooks:
        return 3
    return 1 if capabilities.native and not capabilities.plugin else 2


class Quirk(Struct, frozen=True):
    """A habit of a client that shapes what we do, and how we know of it."""

    text: str
    source: str  # as in "seen in 0.166.0", "read in its source", "its documentation", "reported"


class Client(Protocol):
    """A coding agent: a module of `clients/` with these names."""

    NAME: str
    TITLE: str  # its name for people
    CAPABILITIES: Capabilities
    QUIRKS: tuple[Quirk, ...]
    INSTALL: "Install"

    def decode(self, payload: bytes, event: str = "") -> Event:
        """Return the event that a payload reports; `event` is its name if the payload has none."""

    def encode(self, decision: Decision) -> Reply:
        """Return the client's reply for a decision."""

    def encode_failure(self, event: str, text: str, *, blocks: bool) -> Reply:
        """Return the reply without a decision: no opinion, or a refusal if `blocks`."""


class Said(Struct, frozen=True):
    """What a program printed, and how it ended."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = 0


class ClientEmulation(Protocol):
    """A client the other way round, at one of its events: for programs that were written as hooks of it."""

    def payloads_for(self, event: Event, project: str) -> Sequence[Payload]:
        """The event as that client would report it: not at all, once, or once for each file."""

    def is_wanted(self, matcher: str, event: Event, given: Payload) -> bool:
        """Whether a matcher in that client's terms fits."""

    def variables(self, event: Event, project: str) -> dict[str, str]:
        """What that client puts into the environment."""

    def folder(self, hook: Hook) -> str:
        """Where that client starts it; empty = where the session is."""

    def answer(self, event: Event, given: Payload, said: Said) -> Outcome | None:
        """What it meant; None: what Claude Code would take it for."""


class Store(Protocol):
    """Where marks live. A mark is a small named value in a scope such as `session:ID`."""

    def get(self, scope: str, name: str) -> Any: ...

    def put(self, scope: str, name: str, value: Any) -> None: ...

    def change(self, scope: str, name: str, change: Callable[[Any], Any]) -> None:
        """Put what `change` makes of the value that is there, with nobody in between."""

    def drop(self, scope: str, name: str | None = None) -> None: ...


class Transaction(Protocol):
    """SQL that counts together or not at all. Placeholders are `?`, whatever the backend."""

    dialect: str  # `sqlite` or `postgres`, for the little that differs
    vectors: str  # where the server keeps pgvector, as SQL says it; empty where there is none

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]: ...

    def do(self, sql: str, *values: Any) -> int:
        """Change something; returns how many rows."""


class Database(Protocol):
    """Where rows live. Trouble with it is a `StoreError`; after one it can be used again."""

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        """
        Do this work in one transaction: kept when it returns, undone when it raises.

        `only_reads`: work that changes nothing, and so waits for nobody who writes.
        """

    def do(self, sql: str, *values: Any) -> int:
        """One statement in a transaction of its own; returns how many rows it changed."""

    def close(self) -> None: ...


class TeamSync(Protocol):
    """The other machines, with which work is shared through a server."""

    @property
    def has_met(self) -> bool:
        """Has the server been reached since we began?"""

    def catch_up(self, seconds: float) -> bool:
        """Wait for a moment until both sides know everything; False when they do not."""

    def changed(self) -> None:
        """Something changed here that the others should know soon."""


class HookExecutor(Protocol):
    """Runs hooks. Outcomes come back in the order of the hooks, whatever order they finished in."""

    def run(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]: ...


# Does a hook's `if` rule hold for this event?
Condition = Callable[[str, Event], bool]
# What is wrong with this input of this tool; empty when nothing is or when no schema is known.
Validate = Callable[[str, Mapping[str, Any]], Sequence[str]]
