"""Protocols that the higher packages implement."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct

from snell.model.decision import Decision, Outcome, Skipped
from snell.model.events import Event, Payload
from snell.model.hooks import Hook, Pick, Switches

if TYPE_CHECKING:
    from snell.model.installs import Install

T = TypeVar("T")


class Reply(Struct, frozen=True):
    """What one client gets back: bytes, stderr and exit code."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0


class Capabilities(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a client can do with an answer; tiers and `doctor` are derived from it."""

    hooks: bool = True  # it calls hooks at all
    native: bool = True  # under Claude's event names, so that files written for Claude Code are understood
    plugin: bool = False  # only through a plugin in its own language, which calls us
    deny: bool = True  # a tool call can be refused
    ask: bool = True  # the user can be asked about a tool call
    rewrite: bool = True  # a tool call can be changed
    output: bool = True  # the result of a tool can be replaced
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


class Client(Struct, frozen=True, kw_only=True):
    """A coding agent, and everything that Snell knows about it."""

    name: str
    title: str  # its name in texts for users
    about: str  # the version that was tried, and what is unusual about it
    capabilities: Capabilities
    quirks: tuple[Quirk, ...] = ()
    install: "Install"
    decode: Callable[..., Event]  # (payload, event=""): the event that it reports; `event`, if the payload names none
    encode: Callable[[Decision], Reply]
    # (event, text, blocks=...): the reply without a decision, which is no opinion, or a refusal if `blocks`.
    encode_failure: Callable[..., Reply]
    table: Any = None  # how `clients/protocol` decodes and encodes; None: code of its own does


class ProgramOutput(Struct, frozen=True):
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

    def answer(self, event: Event, given: Payload, said: ProgramOutput) -> Outcome | None:
        """Return the outcome of its output; None: as Claude Code would read it."""


class Store(Protocol):
    """A store of marks. A mark is a small named value in a scope such as `session:ID`. The defaults keep nothing."""

    def get(self, scope: str, name: str) -> Any:
        return None

    def put(self, scope: str, name: str, value: Any) -> None:
        return

    def change(self, scope: str, name: str, change: Callable[[Any], Any]) -> None:
        """Replace the value by what `change` returns for it, atomically."""
        return

    def drop(self, scope: str, name: str | None = None) -> None:
        return


class Transaction(Protocol):
    """SQL statements that are committed together or not at all. Placeholders are `?` in every backend."""

    dialect: str  # `sqlite` or `postgres`, for the few statements that differ
    vectors: str  # the schema of the pgvector extension, as an SQL prefix; empty without the extension

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]: ...

    def do(self, sql: str, *values: Any) -> int:
        """Execute a statement and return the number of changed rows."""


class Database(Protocol):
    """
    A store backend. It implements `run` and `close`; the other methods have defaults that it may replace.

    Failures are raised as `StoreError`; after one the database can be used again.
    """

    problems: Sequence[str] = ()  # what the user should know, such as a damaged file that was replaced
    log_path: str = ""  # a file that changes with every write of any process; empty if there is none

    @abstractmethod
    def run(self, work: Callable[[Transaction], T], *, only_reads: bool = False) -> T:
        """
        Call `work` in one transaction: commit when it returns, roll back when it raises.

        `only_reads`: `work` changes nothing, so it need not wait for writers.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection; the next use opens it again."""

    def do(self, sql: str, *values: Any) -> int:
        """Execute one statement in a transaction of its own and return the number of changed rows."""
        return self.run(lambda tx: tx.do(sql, *values))

    def in_one_commit(self, work: Callable[[], None]) -> None:
        """
        Call `work`, whose calls of `run` and `do` may share one commit to be quicker.

        Raises `StoreError` when the commit fails, or one of those calls did: then none was kept, and the caller makes
        them again without this.
        """
        work()

    def checkpoint(self) -> None:
        """Move the contents of the write-ahead log into the database file, if the backend has one. May be slow."""
        return

    def check(self) -> list[str]:
        """Read the whole database and return a description of each damage."""
        return []

    def size(self) -> int:
        """Return the number of bytes on this machine's disk."""
        return 0


class TeamSync(Protocol):
    """Replication of work with the other machines of a team, through a server."""

    @property
    def has_connected(self) -> bool:
        """Whether the server was reached since the start."""

    def catch_up(self, seconds: float) -> bool:
        """Wait until both sides have all changes; False if that takes longer than `seconds`."""

    def notify_change(self) -> None:
        """Send a change of this machine to the others soon."""


class HookRegistry(Protocol):
    """The active hooks, in execution order. The defaults have none; `engine/registry.py` has the real one."""

    @property
    def switches(self) -> Switches:
        return Switches()

    @property
    def problems(self) -> Sequence[str]:
        return ()

    def pick(self, event: Event, marks: Store) -> Pick:
        """Return the hooks that apply to this event now, by tier and role."""
        return Pick()

    def applies(self, hook: Hook, event: Event) -> bool:
        """Return whether the hook's `if` rule holds."""
        return False

    def hooks(self) -> Iterable[Hook]:
        return ()

    def skipped_hooks(self, event: Event, marks: Store) -> list[Skipped]:
        """Return every hook of this event that does not apply, and why."""
        return []


# Returns whether a hook's `if` rule holds for this event.
Condition = Callable[[str, Event], bool]
# Returns what is wrong with this input of this tool; empty when nothing is or when no schema is known.
Validate = Callable[[str, Mapping[str, Any]], Sequence[str]]
