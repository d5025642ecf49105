"""Drive the engine by hand: answer each request of `decide` with a plain function."""

from collections.abc import Callable, Generator, Sequence

from snell.engine.decide import Run
from snell.model.decision import Decision, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook

Answer = Callable[[Hook, Event], Outcome]
Steps = Generator[Run, Sequence[Outcome], Decision]


def drive(steps: Steps, answer: Answer) -> Decision:
    """Run hooks one after the other, in the order in which they are asked for."""
    return drive_in_rounds(steps, lambda run: [answer(hook, run.event) for hook in run.hooks])


def drive_in_rounds(steps: Steps, answers: Callable[[Run], Sequence[Outcome]]) -> Decision:
    """The same, with a function that answers a whole request."""
    try:
        run = next(steps)
        while True:
            run = steps.send(answers(run))
    except StopIteration as end:
        decision: Decision = end.value
        return decision
