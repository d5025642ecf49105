"""One question to the user's language model about an event, and its answer as text."""

from snell.llm.client import Model
from snell.llm.messages import ModelError, Question
from snell.model.events import Event
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.handler_context import AROUND, HandlerContext


def answer_here(question: Question, event: Event, seconds: float) -> str:
    """The same for a hook of a built-in pack, which runs in the surroundings of its event."""
    around = AROUND.get(None)
    if around is None:
        raise ModelError("launch", "there is no model to ask here")
    return answer_of(question, event, around, seconds)


def answer_of(question: Question, event: Event, around: HandlerContext, seconds: float) -> str:
    """What the model says; raises ModelError, whose kind is that of a failure."""
    if not around.has_audience(event):
        raise ModelError("launch", "a prompt hook needs an interactive caller; see `model.in_batch`")
    try:
        return Model(around, event.session_id, Deadline(seconds, around.cancel)).ask(question).text
    except DeadlineExceededError:
        raise ModelError("timeout", f"the model did not answer within {seconds:g} s") from None
    except CancelledError:
        raise ModelError("cancelled", "was cancelled") from None
