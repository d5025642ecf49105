"""
Hooks that go on after the answer has left: which there are, how they ended, and how to stop them.

A hook in the background is pending until it is completed, expires at its own limit, or is cancelled, at the latest
when its session ends.
"""

import threading
from typing import Literal

from msgspec import Struct

from snell.model.decision import Outcome
from snell.model.events import Event
from snell.model.hooks import Hook

State = Literal["pending", "completed", "expired", "cancelled"]
KEPT = 1_000  # tickets of hooks that have ended


class BackgroundRun(Struct, eq=False):
    hook: Hook
    event: Event
    cancel: threading.Event
    state: State = "pending"
    outcome: Outcome | None = None


class BackgroundHooks:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tickets: list[BackgroundRun] = []

    def begin(self, hook: Hook, event: Event, cancel: threading.Event | None = None) -> threading.Event:
        """A hook goes to the background; returns what to set so that it stops."""
        ticket = BackgroundRun(hook, event, cancel or threading.Event())
        with self._lock:
            ended = [each for each in self._tickets if each.state != "pending"]
            if len(ended) >= KEPT:
                self._tickets = [each for each in self._tickets if each is not ended[0]]
            self._tickets.append(ticket)
        return ticket.cancel

    def finish(self, hook: Hook, event: Event, outcome: Outcome) -> bool:
        """It has ended, and this is how. False when nobody wants to know any more."""
        with self._lock:
            ticket = next((each for each in self._tickets if each.hook is hook and each.event is event), None)
            if ticket is None:
                return True  # it was never in the background
            if ticket.state == "cancelled":
                return False
            ticket.outcome = outcome
            ticket.state = _state(outcome)
            return ticket.state != "cancelled"

    def all(self, session_id: str = "") -> tuple[BackgroundRun, ...]:
        """The tickets of a session, or of everybody."""
        with self._lock:
            return tuple(each for each in self._tickets if not session_id or each.event.session_id == session_id)

    def pending(self, session_id: str = "") -> tuple[BackgroundRun, ...]:
        return tuple(each for each in self.all(session_id) if each.state == "pending")

    def take(self, session_id: str = "") -> tuple[BackgroundRun, ...]:
        """The tickets that have ended; each is given out once."""
        with self._lock:
            taken = tuple(each for each in self._tickets if each.state != "pending" and _is_of(each, session_id))
            self._tickets = [each for each in self._tickets if each not in taken]
            return taken

    def cancel(self, session_id: str = "") -> int:
        """Stop what a session, or everybody, has in the background; returns how many."""
        with self._lock:
            stopped = [each for each in self._tickets if each.state == "pending" and _is_of(each, session_id)]
            for ticket in stopped:
                ticket.state = "cancelled"
                ticket.cancel.set()
        return len(stopped)


def _is_of(ticket: BackgroundRun, session_id: str) -> bool:
    return not session_id or ticket.event.session_id == session_id


def _state(outcome: Outcome) -> State:
    kind = outcome.failure.kind if outcome.failure else ""
    return "expired" if kind == "timeout" else "cancelled" if kind == "cancelled" else "completed"
