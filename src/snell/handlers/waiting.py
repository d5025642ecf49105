"""Run a hook that waits for a server or a model, within its time limit."""

import time
from collections.abc import Callable

from msgspec.structs import replace

from snell.model.context import Context
from snell.model.decision import Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError, FailedError

Run = Callable[[Hook, Event, Context], Outcome]


def within_limit(work: Callable[[Hook, Event, Context, Deadline], Outcome]) -> Run:
    """Return the `run` of a handler: its work, whose errors become failures, with the time that it took."""

    def run(hook: Hook, event: Event, context: Context) -> Outcome:
        start = time.perf_counter()
        try:
            outcome = work(hook, event, context, Deadline(hook.time_limit, context.cancel))
        except FailedError as error:
            outcome = Outcome(failure=Failure(error.kind, str(error)))
        except DeadlineExceededError as error:
            outcome = Outcome(failure=Failure("timeout", str(error) or f"did not answer within {hook.time_limit:g} s"))
        except CancelledError:
            outcome = Outcome(failure=Failure("cancelled", "was cancelled"))
        return replace(outcome, seconds=time.perf_counter() - start)

    return run
