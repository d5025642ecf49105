"""Protocols: what the inner rooms ask of the outer ones."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from snell.model.decision import Decision, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook

T = TypeVar("T")


class Reply(Struct, frozen=True):
    """What one client gets back: bytes, stderr and exit code."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a client can do with an answer; tiers and `doctor` are derived from this."""

    hooks: bool = True
    deny: bool = True
    ask: bool = True
    rewrite: bool = True
    note: bool = True
    stop: bool = True


class Client(Protocol):
    """A coding agent: a module of `clients/` with these names."""

    NAME: str
    CAPABILITIES: Capabilities

    def decode(self, payload: bytes) -> Event: ...

    def encode(self, decision: Decision) -> Reply: ...


class Store(Protocol):
    """Where marks live. A mark is a small named value in a scope such as `session:ID`."""

    def get(self, scope: str, name: str) -> Any: ...

    def put(self, scope: str, name: str, value: Any) -> None: ...

    def drop(self, scope: str, name: str | None = None) -> None: ...


class Transaction(Protocol):
    """SQL that counts together or not at all. Placeholders are `?`, whatever the backend."""

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]: ...

    def do(self, sql: str, *values: Any) -> int:
        """Change something; returns how many rows."""


class Database(Protocol):
    """Where rows live. Trouble with it is a `StoreError`; after one it can be used again."""

    def run(self, work: Callable[[Transaction], T]) -> T:
        """Do this work in one transaction: kept when it returns, undone when it raises."""

    def close(self) -> None: ...


class Crew(Protocol):
    """Runs hooks. Outcomes come back in the order of the hooks, whatever order they finished in."""

    def run(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]: ...


# Does a hook's `if` rule hold for this event?
Condition = Callable[[str, Event], bool]
# What is wrong with this input of this tool; empty when nothing is or when no schema is known.
Validate = Callable[[str, Mapping[str, Any]], Sequence[str]]
