"""Effects: what one hook may ask for. They are plain values; a client module turns them into a reply."""

from enum import IntEnum
from typing import Any

from msgspec import Struct


class Verdict(IntEnum):
    """Ordered; the highest wins. No opinion is not allow: it leaves the client's own permission flow alone."""

    NO_OPINION = 0
    ALLOW = 1
    ASK = 2
    DEFER = 3
    DENY = 4

    def __str__(self) -> str:
        return self._name_.lower()  # `name` is a property, and every event asks


class Allow(Struct, frozen=True):
    """Let the call through without asking the user."""

    because: str = ""


class Ask(Struct, frozen=True):
    """Let the user decide."""

    because: str = ""


class Defer(Struct, frozen=True):
    """Leave the call to the program that drives a headless session."""

    because: str = ""


class Deny(Struct, frozen=True):
    """Refuse; on Stop: keep the agent working. `instead` tells the model what to do now."""

    because: str = ""
    instead: str = ""


class Note(Struct, frozen=True):
    """Text for the model."""

    text: str


class Tell(Struct, frozen=True):
    """Text for the user; the model does not see it."""

    text: str


class Remark(Struct, frozen=True):
    """Text for the trace alone: `snell why` shows it."""

    text: str


class Stop(Struct, frozen=True):
    """End the turn now."""

    because: str = ""


class Env(Struct, frozen=True):
    """Environment variables for the session's later commands."""

    variables: dict[str, str]


class Extra(Struct, frozen=True):
    """One further output field of the client that the catalogue lists for the event, such as `sessionTitle`."""

    name: str
    value: Any


class Rewrite:
    """
    Change what will happen: `Rewrite(command="make test")` changes named fields and keeps the rest,
    `Rewrite({...})` replaces the complete value (tool input, tool output or prompt text).

    An ordinary class, because a Struct cannot take free keyword arguments.
    """

    __slots__ = ("because", "fields", "value")
    __match_args__ = ("value", "fields", "because")

    def __init__(self, value: Any = None, /, *, because: str = "", **fields: Any) -> None:
        if (value is None) == (not fields):
            raise TypeError("give Rewrite either one complete value or the fields to change")
        self.value = value
        self.fields = fields
        self.because = because

    def applied_to(self, old: Any) -> Any:
        """Return the value after this rewrite."""
        if not self.fields:
            return self.value
        return {**old, **self.fields} if isinstance(old, dict) else dict(self.fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rewrite) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((repr(self.value), repr(self.fields), self.because))

    def __repr__(self) -> str:
        what = repr(self.value) if not self.fields else ", ".join(f"{k}={v!r}" for k, v in self.fields.items())
        return f"Rewrite({what}, because={self.because!r})"

    def _key(self) -> tuple[Any, dict[str, Any], str]:
        return self.value, self.fields, self.because


Judgement = Allow | Ask | Defer | Deny
Effect = Allow | Ask | Defer | Deny | Rewrite | Note | Tell | Remark | Stop | Env | Extra

VERDICT_OF: dict[type, Verdict] = {Allow: Verdict.ALLOW, Ask: Verdict.ASK, Defer: Verdict.DEFER, Deny: Verdict.DENY}
EFFECT_TYPES = (Allow, Ask, Defer, Deny, Rewrite, Note, Tell, Remark, Stop, Env, Extra)
