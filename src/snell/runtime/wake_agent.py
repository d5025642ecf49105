"""
Wakes an agent that has ended its turn.

A client that can be woken (Claude Code's `asyncRewake`) calls a second time for an event, with `--rewake`, and does
not wait for that call. It is answered when the background hooks of the event that may wake are done: with exit code 2
and the reasons of those that deny, which the client gives to the agent, else with an empty reply.
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
    """Wait for the background hooks of an event, and return the reply to its second call."""
    watchers = runtime.context_for(event).registry.pick(event, runtime.store).watchers
    if not any(hook.rewakes for hook in watchers):
        return Reply()
    await _wait_until(lambda: bool(_waking_runs(runtime, event)), APPEAR_SECONDS)
    await _wait_until(
        lambda: not any(each.state == "pending" for each in _waking_runs(runtime, event)), LONGEST_TIMEOUT
    )
    reasons = [
        effect.because for each in _waking_runs(runtime, event) for effect in _effects(each) if isinstance(effect, Deny)
    ]
    return Reply(stderr="\n".join(reasons).encode("utf-8"), exit_code=2) if reasons else Reply()


def _waking_runs(runtime: Runtime, event: Event) -> list[BackgroundRun]:
    return [
        each
        for each in runtime.background.all(event.session_id)
        if each.hook.rewakes and _is_same_event(each.event, event)
    ]


def _is_same_event(one: Event, other: Event) -> bool:
    return one.name == other.name and one.tool_use_id == other.tool_use_id


def _effects(run: BackgroundRun) -> tuple[object, ...]:
    return run.outcome.effects if run.outcome else ()


async def _wait_until(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:  # noqa: ASYNC110 - threads change it, which do not use this loop
        await asyncio.sleep(LOOK_SECONDS)
