"""
Outcome: how one run of one hook went. Decision: all outcomes of an event combined, with the reasons.

The trace is kept as rounds (which hooks ran together, on which event): one more object per hook would slow down every
event.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from snell.model.effects import Effect, Verdict
from snell.model.events import Event, json_equal
from snell.model.hooks import Hook

PRINTED = "printed: "  # begins a remark with a line that a Python hook printed
OBSERVED = "only observed: "  # begins a remark with an effect that `profile = "observe"` kept from happening


class Failure(Struct, frozen=True):
    """Why a hook failed. Kinds: launch, timeout, crash, output, effect, rewrite, untrusted, cancelled."""

    kind: str
    message: str


class Outcome(Struct, frozen=True):
    effects: tuple[Effect, ...] = ()
    failure: Failure | None = None
    seconds: float = 0.0
    remarks: tuple[str, ...] = ()  # for the trace, such as text that was not JSON
    is_pending: bool = False  # the hook went to the background; its effects are not known yet

    @property
    def status(self) -> str:
        """Return success, blocking, non_blocking_error or cancelled. A refusal beats an error."""
        if any(type(effect).__name__ == "Deny" for effect in self.effects):
            return "blocking"
        if self.failure is None:
            return "success"
        return "cancelled" if self.failure.kind in ("timeout", "cancelled") else "non_blocking_error"


# Most runs have no effect and take no time worth showing; they share one outcome.
QUIET = Outcome()


class Round(Struct, frozen=True):
    """Hooks that ran on one event. `PASSES` of `engine/explain.py` has the names of passes."""

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
    """A hook that did not run, and why."""

    hook: str
    why: str


class Change(Struct, frozen=True):
    """A rewrite that took effect: which hook, and the value before and after."""

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
    merge: tuple[str, ...] = ()  # how the outcomes were combined, in words
    rounds: tuple[Round, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    id: str = ""
    sender: int = 0  # the process id of the hook program that sent the request; 0: not known
    in_ledger: bool = False  # the ledger keeps this tool call

    @property
    def is_rewritten(self) -> bool:
        """Return whether the input that runs differs from the one that came; rewrites may cancel each other out."""
        return bool(self.changes) and not json_equal(self.changes[0].before, self.event.rewritable)

    @property
    def reason(self) -> str:
        """Return all reasons of the winning verdict, with what to do instead."""
        return "\n".join(_with_advice(reason) for reason in self.reasons)

    @property
    def note(self) -> str:
        return "\n".join(reason.text for reason in self.notes)

    @property
    def tell(self) -> str:
        return "\n".join(reason.text for reason in self.tells)

    def runs(self) -> Iterator[tuple[Round, Hook, Outcome]]:
        """Yield every run, in the order of the rounds and of the hooks."""
        for each in self.rounds:
            for hook, outcome in zip(each.hooks, each.outcomes, strict=True):
                yield each, hook, outcome


def _with_advice(reason: Reason) -> str:
    if not reason.instead:
        return reason.text
    return f"{reason.text.rstrip('.')}. Instead: {reason.instead}" if reason.text else reason.instead
