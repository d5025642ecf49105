"""
Tracks hooks that run after the reply: which there are, how they ended, and how to stop them.

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
KEPT = 1_000  # runs that have ended


class BackgroundRun(Struct, eq=False):
    hook: Hook
    event: Event
    cancel: threading.Event
    state: State = "pending"
    outcome: Outcome | None = None


class BackgroundHooks:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: list[BackgroundRun] = []

    def begin(self, hook: Hook, event: Event, cancel: threading.Event | None = None) -> threading.Event:
        """Add a hook that goes to the background; returns the flag that stops it."""
        run = BackgroundRun(hook, event, cancel or threading.Event())
        with self._lock:
            ended = [each for each in self._runs if each.state != "pending"]
            if len(ended) >= KEPT:
                self._runs = [each for each in self._runs if each is not ended[0]]
            self._runs.append(run)
        return run.cancel

    def finish(self, hook: Hook, event: Event, outcome: Outcome) -> bool:
        """Enter how a hook ended; returns False when it was cancelled, so that its outcome is not wanted."""
        with self._lock:
            run = next((each for each in self._runs if each.hook is hook and each.event is event), None)
            if run is None:
                return True  # it was never in the background
            if run.state == "cancelled":
                return False
            run.outcome = outcome
            run.state = _state(outcome)
            return run.state != "cancelled"

    def all(self, session_id: str = "") -> tuple[BackgroundRun, ...]:
        """Return the runs of a session, or of all."""
        with self._lock:
            return tuple(each for each in self._runs if not session_id or each.event.session_id == session_id)

    def pending(self, session_id: str = "") -> tuple[BackgroundRun, ...]:
        return tuple(each for each in self.all(session_id) if each.state == "pending")

    def take(self, session_id: str = "") -> tuple[BackgroundRun, ...]:
        """Return and forget the runs that have ended."""
        with self._lock:
            taken = tuple(each for each in self._runs if each.state != "pending" and _belongs_to(each, session_id))
            self._runs = [each for each in self._runs if each not in taken]
            return taken

    def cancel(self, session_id: str = "") -> int:
        """Cancel the pending runs of a session, or of all; returns how many."""
        with self._lock:
            stopped = [each for each in self._runs if each.state == "pending" and _belongs_to(each, session_id)]
            for run in stopped:
                run.state = "cancelled"
                run.cancel.set()
        return len(stopped)


def _belongs_to(run: BackgroundRun, session_id: str) -> bool:
    return not session_id or run.event.session_id == session_id


def _state(outcome: Outcome) -> State:
    kind = outcome.failure.kind if outcome.failure else ""
    return "expired" if kind == "timeout" else "cancelled" if kind == "cancelled" else "completed"
