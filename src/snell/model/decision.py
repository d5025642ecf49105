"""
Outcome: how one run of one hook went. Decision: what all outcomes add up to, and why.

The trace is kept as rounds (which hooks ran together, on which event), because that is how it happened and because
building one object per hook more would be paid on every event.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from snell.model.effects import Effect, Verdict
from snell.model.events import Event, json_equal
from snell.model.hooks import Hook


class Failure(Struct, frozen=True):
    """Why a hook could not do its job. Kinds: launch, timeout, crash, output, effect, rewrite, untrusted, cancelled."""

    kind: str
    message: str


class Outcome(Struct, frozen=True):
    effects: tuple[Effect, ...] = ()
    failure: Failure | None = None
    seconds: float = 0.0
    remarks: tuple[str, ...] = ()  # what a person who asks why should know, such as text that was not JSON
    suppress_output: bool = False
    is_pending: bool = False  # the hook went on in the background; what it did is not known yet

    @property
    def status(self) -> str:
        """One of success, blocking, non_blocking_error, cancelled. A refusal beats an error."""
        if any(type(effect).__name__ == "Deny" for effect in self.effects):
            return "blocking"
        if self.failure is None:
            return "success"
        return "cancelled" if self.failure.kind in ("timeout", "cancelled") else "non_blocking_error"


# Most runs say nothing and take no time worth showing; they share one outcome.
QUIET = Outcome()


class Round(Struct, frozen=True):
    """Hooks that ran on one event. Passes: rewrite, judge, chain (rewriters in turn), again (on the final input)."""

    name: str
    event: Event
    hooks: tuple[Hook, ...]
    outcomes: tuple[Outcome, ...]


class Reason(Struct, frozen=True):
    """A text and the hook that gave it."""

    hook: str
    text: str
    instead: str = ""


class Skipped(Struct, frozen=True):
    """A hook that was considered and not run, and why."""

    hook: str
    why: str


class Change(Struct, frozen=True):
    """A rewrite that took effect: who, and the value before and after."""

    hook: str
    before: Any
    after: Any
    because: str = ""


class Decision(Struct, frozen=True, kw_only=True):
    event: Event  # as it will happen
    verdict: Verdict = Verdict.NO_OPINION
    reasons: tuple[Reason, ...] = ()
    notes: tuple[Reason, ...] = ()
    tells: tuple[Reason, ...] = ()
    stop: Reason | None = None
    changes: tuple[Change, ...] = ()
    env: dict[str, str] = {}
    extras: dict[str, Any] = {}
    failures: tuple[Reason, ...] = ()
    merge: tuple[str, ...] = ()  # the steps from outcomes to decision, in words
    rounds: tuple[Round, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    id: str = ""
    sender: int = 0  # the process id of the hook program that asks for it; 0: not known
    in_ledger: bool = False  # the ledger keeps this tool call

    @property
    def is_rewritten(self) -> bool:
        """What runs is not what came; rewrites that cancel each other out do not count."""
        return bool(self.changes) and not json_equal(self.changes[0].before, self.event.rewritable)

    @property
    def reason(self) -> str:
        """All reasons of the winning verdict, with what to do instead."""
        return "\n".join(_with_advice(reason) for reason in self.reasons)

    @property
    def note(self) -> str:
        return "\n".join(reason.text for reason in self.notes)

    @property
    def tell(self) -> str:
        return "\n".join(reason.text for reason in self.tells)

    def runs(self) -> Iterator[tuple[Round, Hook, Outcome]]:
        """Every single run, in the order of the rounds and of the book."""
        for each in self.rounds:
            for hook, outcome in zip(each.hooks, each.outcomes, strict=True):
                yield each, hook, outcome


def _with_advice(reason: Reason) -> str:
    if not reason.instead:
        return reason.text
    return f"{reason.text}. Instead: {reason.instead}" if reason.text else reason.instead
