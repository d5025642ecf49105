"""Two drivers for the engine's generator: one for ordinary code, one for code inside an event loop."""

from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from snell.engine.decide import Run
from snell.model.decision import Decision, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.model.protocols import Crew

Deciding = Generator[Run, Sequence[Outcome], Decision]


Wait = Callable[[], Sequence[Outcome]]


class QuickCrew(Protocol):
    def run_at_once(self, hooks: tuple[Hook, ...], event: Event) -> Sequence[Outcome] | Wait: ...


class AsyncCrew(Protocol):
    async def run_async(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]: ...


def drive(deciding: Deciding, crew: Crew) -> Decision:
    """Run a decision to its end, waiting for each round."""
    try:
        asked = next(deciding)
        while True:
            asked = deciding.send(crew.run(asked.hooks, asked.event))
    except StopIteration as done:
        decision: Decision = done.value
        return decision


def advance(deciding: Deciding, crew: QuickCrew, outcomes: Sequence[Outcome] | None = None) -> Decision | Wait:
    """Drive as far as nobody has to wait: to the decision, or to what a thread must wait for before the next call."""
    try:
        asked = next(deciding) if outcomes is None else deciding.send(outcomes)
        while True:
            came = crew.run_at_once(asked.hooks, asked.event)
            if callable(came):
                return came
            asked = deciding.send(came)
    except StopIteration as done:
        decision: Decision = done.value
        return decision


async def drive_async(deciding: Deciding, crew: AsyncCrew) -> Decision:
    """The same without blocking the loop."""
    try:
        asked = next(deciding)
        while True:
            asked = deciding.send(await crew.run_async(asked.hooks, asked.event))
    except StopIteration as done:
        decision: Decision = done.value
        return decision
