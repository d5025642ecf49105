"""
Tracks hooks that run after the reply: which there are, how they ended, and how to stop them.

A hook in the background is pending until it is completed, expires at its own limit, or is cancelled, at the latest
when its session ends.

A client that can be woken (Claude Code's `asyncRewake`) calls a second time for an event, with `--rewake`, and does
not wait for that call. It is answered when the background hooks of the event that may wake are done: with exit code 2
and the reasons of those that deny, which the client gives to the agent, else with an empty reply.
"""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from snell.model.decision import Outcome
from snell.model.effects import Deny
from snell.model.events import Event
from snell.model.hooks import LONGEST_TIMEOUT, Hook
from snell.model.protocols import Reply

State = Literal["pending", "completed", "expired", "cancelled"]
KEPT = 1_000  # runs that have ended
APPEAR_SECONDS = 3.0  # in which the ordinary call for an event starts its hooks, after the one that may wake
LOOK_SECONDS = 0.05


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
            kind = outcome.failure.kind if outcome.failure else ""
            run.state = "expired" if kind == "timeout" else "cancelled" if kind == "cancelled" else "completed"
            return run.state != "cancelled"

    def all(self, session_id: str = "") -> tuple[BackgroundRun, ...]:
        with self._lock:
            return tuple(each for each in self._runs if _belongs_to(each, session_id))

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

    async def reply_when_done(self, event: Event, watchers: Iterable[Hook]) -> Reply:
        """Wait for the runs of an event whose hooks may wake the agent, and return the reply to its second call."""

        def runs() -> list[BackgroundRun]:
            mine = (each for each in self.all(event.session_id) if each.hook.rewakes)
            return [e for e in mine if (e.event.name, e.event.tool_use_id) == (event.name, event.tool_use_id)]

        if not any(hook.rewakes for hook in watchers):
            return Reply()
        await _wait_until(lambda: bool(runs()), APPEAR_SECONDS)
        await _wait_until(lambda: not any(each.state == "pending" for each in runs()), LONGEST_TIMEOUT)
        effects = [effect for each in runs() if each.outcome for effect in each.outcome.effects]
        reasons = [effect.because for effect in effects if isinstance(effect, Deny)]
        return Reply(stderr="\n".join(reasons).encode("utf-8"), exit_code=2) if reasons else Reply()


def _belongs_to(run: BackgroundRun, session_id: str) -> bool:
    return not session_id or run.event.session_id == session_id


async def _wait_until(condition: Callable[[], bool], seconds: float) -> None:
    import asyncio  # slow to import, and few clients can be woken

    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:  # noqa: ASYNC110 - threads change it, which do not use this loop
        await asyncio.sleep(LOOK_SECONDS)
