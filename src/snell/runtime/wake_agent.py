"""
Waking an agent that has ended its turn.

A client that can be woken (Claude Code's `asyncRewake`) calls a second time for an event, with `--rewake`, and does
not wait for that call. It is answered when the background hooks of the event that may wake are done: with exit code 2
and the reasons of those that refuse, which the client gives to the agent, else with nothing.
"""

import asyncio
import time
from collections.abc import Callable

from snell.model.effects import Deny
from snell.model.events import Event
from snell.model.hooks import LONGEST_TIMEOUT
from snell.model.protocols import Reply
from snell.runtime.app import Runtime
from snell.runtime.background_hooks import BackgroundRun

APPEAR_SECONDS = 3.0  # in which the ordinary call for the same event starts its hooks
LOOK_SECONDS = 0.05


async def wake_agent(runtime: Runtime, event: Event) -> Reply:
    """What the second call for an event is answered with, when it is time."""
    watchers = runtime.context_for(event).registry.pick(event, runtime.store).watchers
    if not any(hook.rewakes for hook in watchers):
        return Reply()
    await _until(lambda: bool(_tickets(runtime, event)), APPEAR_SECONDS)
    await _until(lambda: not any(each.state == "pending" for each in _tickets(runtime, event)), LONGEST_TIMEOUT)
    reasons = [
        effect.because for each in _tickets(runtime, event) for effect in _effects(each) if isinstance(effect, Deny)
    ]
    return Reply(stderr="\n".join(reasons).encode("utf-8"), exit_code=2) if reasons else Reply()


def _tickets(runtime: Runtime, event: Event) -> list[BackgroundRun]:
    return [each for each in runtime.background.all(event.session_id) if each.hook.rewakes and _same(each.event, event)]


def _same(one: Event, other: Event) -> bool:
    return one.name == other.name and one.tool_use_id == other.tool_use_id


def _effects(ticket: BackgroundRun) -> tuple[object, ...]:
    return ticket.outcome.effects if ticket.outcome else ()


async def _until(is_so: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:  # noqa: ASYNC110 - threads change it, which know nothing of this loop
        await asyncio.sleep(LOOK_SECONDS)
