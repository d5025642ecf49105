"""Protocols that the higher packages implement."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from snell.model.decision import Decision, Outcome, Skipped
from snell.model.events import Event, Payload
from snell.model.hooks import Hook, Pick, Switches

T = TypeVar("T")


class Reply(Struct, frozen=True):
    """What one client gets back: bytes, stderr and exit code."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a client can do with an answer; tiers and `doctor` are derived from it."""

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
    """Return 1: hooks in Claude's own terms; 2: hooks that an adapter or plugin translates; 3: only MCP and rules."""
    if not capabilities.hooks:
        return 3
    return 1 if capabilities.native and not capabilities.plugin else 2


class Quirk(Struct, frozen=True):
    """A behaviour of a client that shapes Snell's answers, and how it is known."""

    text: str
    source: str  # as in "seen in 0.166.0", "read in its source", "its documentation", "reported"


class Client(Protocol):
    """A coding agent: a module of `clients/` with these names."""

    NAME: str
    TITLE: str  # its name in texts for users
    ALIASES: tuple[str, ...]
    CAPABILITIES: Capabilities
    QUIRKS: tuple[Quirk, ...]

    def decode(self, payload: bytes, event: str = "") -> Event:
        """Return the event that a payload reports; `event` is its name where the payload does not have it."""

    def encode(self, decision: Decision) -> Reply:
        """Return the reply for this client."""

    def failed(self, event: str, text: str, *, blocks: bool) -> Reply:
        """Return the reply when there is no decision: no opinion, or a refusal if `blocks`."""


class Said(Struct, frozen=True):
    """The output of a program, and how it ended."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = 0


class ClientEmulation(Protocol):
    """Emulates a client at one of its events, for programs that were written as hooks of it."""

    def payloads_for(self, event: Event, project: str) -> Sequence[Payload]:
        """Return the event as that client would report it: not at all, once, or once for each file."""

    def is_wanted(self, matcher: str, event: Event, given: Payload) -> bool:
        """Return whether a matcher in that client's terms fits."""

    def variables(self, event: Event, project: str) -> dict[str, str]:
        """Return what that client puts into the environment."""

    def folder(self, hook: Hook) -> str:
        """Return the folder in which that client starts it; empty = the session's."""

    def answer(self, event: Event, given: Payload, said: Said) -> Outcome | None:
        """Return the outcome of its output; None: as Claude Code would read it."""


class Store(Protocol):
    """A store of marks. A mark is a small named value in a scope such as `session:ID`."""

    def get(self, scope: str, name: str) -> Any: ...

    def put(self, scope: str, name: str, value: Any) -> None: ...

    def change(self, scope: str, name: str, change: Callable[[Any], Any]) -> None:
        """Replace the value by what `change` returns for it, atomically."""

    def drop(self, scope: str, name: str | None = None) -> None: ...


class Transaction(Protocol):
    """SQL that takes effect together or not at all. Placeholders are `?`, whatever the backend."""

    dialect: str  # `sqlite` or `postgres`, for statements that differ
    vectors: str  # the schema of pgvector as SQL; empty where it is not installed

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]: ...

    def do(self, sql: str, *values: Any) -> int:
        """Run a statement; returns how many rows it changed."""


class Database(Protocol):
    """Runs transactions. Errors are a `StoreError`; after one it can be used again."""

    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        """
        Run this work in one transaction: committed when it returns, rolled back when it raises.

        `only_reads`: work that changes nothing, and so waits for no writer.
        """

    def do(self, sql: str, *values: Any) -> int:
        """Run one statement in a transaction of its own; returns how many rows it changed."""

    def close(self) -> None: ...


class TeamSync(Protocol):
    """Replication with the other machines of a team through a server."""

    @property
    def has_met(self) -> bool:
        """Return whether the server has been reached since the start."""

    def catch_up(self, seconds: float) -> bool:
        """Wait for up to this long until both sides have all rows; returns whether they do."""

    def sync_soon(self) -> None:
        """Ask for replication soon: something has changed here."""


class HookRegistry(Protocol):
    """The active hooks, in execution order; `engine/registry.py` has the real one."""

    @property
    def switches(self) -> Switches: ...

    @property
    def problems(self) -> Sequence[str]: ...

    def pick(self, event: Event, marks: Store) -> Pick:
        """Return the hooks that apply to this event now, by tier and role."""

    def applies(self, hook: Hook, event: Event) -> bool:
        """Return whether the hook's `if` rule holds."""

    def hooks(self) -> Iterable[Hook]: ...

    def skipped_hooks(self, event: Event, marks: Store) -> list[Skipped]:
        """Return every hook of this event that does not apply, and why."""


# Returns whether a hook's `if` rule holds for this event.
Condition = Callable[[str, Event], bool]
# Returns what is wrong with this input of this tool; empty when nothing is or when no schema is known.
Validate = Callable[[str, Mapping[str, Any]], Sequence[str]]
