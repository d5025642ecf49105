"""Two drivers for the engine's generator: one for ordinary code, one for code inside an event loop."""

from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from snell.engine.decide import Run
from snell.model.decision import Decision, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.model.protocols import HookExecutor

Deciding = Generator[Run, Sequence[Outcome], Decision]


Wait = Callable[[], Sequence[Outcome]]


class ImmediateExecutor(Protocol):
    def run_at_once(self, hooks: tuple[Hook, ...], event: Event) -> Sequence[Outcome] | Wait: ...


class AsyncExecutor(Protocol):
    async def run_async(self, hooks: Sequence[Hook], event: Event) -> Sequence[Outcome]: ...


def run_decision(deciding: Deciding, executor: HookExecutor) -> Decision:
    """Run a decision to its end, waiting for each round."""
    try:
        asked = next(deciding)
        while True:
            asked = deciding.send(executor.run(asked.hooks, asked.event))
    except StopIteration as done:
        decision: Decision = done.value
        return decision


def run_decision_until_wait(
    deciding: Deciding, executor: ImmediateExecutor, outcomes: Sequence[Outcome] | None = None
) -> Decision | Wait:
    """Drive as far as nobody has to wait: to the decision, or to what a thread must wait for before the next call."""
    try:
        asked = next(deciding) if outcomes is None else deciding.send(outcomes)
        while True:
            came = executor.run_at_once(asked.hooks, asked.event)
            if callable(came):
                return came
            asked = deciding.send(came)
    except StopIteration as done:
        decision: Decision = done.value
        return decision


async def run_decision_async(deciding: Deciding, executor: AsyncExecutor) -> Decision:
    """The same without blocking the loop."""
    try:
        asked = next(deciding)
        while True:
            asked = deciding.send(await executor.run_async(asked.hooks, asked.event))
    except StopIteration as done:
        decision: Decision = done.value
        return decision
