"""One question to the user's language model about an event, and its answer as text."""

from snell.llm.client import Model
from snell.llm.messages import ModelError, Question
from snell.model.events import Event
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.handler_context import AROUND, HandlerContext


def answer_here(question: Question, event: Event, seconds: float) -> str:
    """The same for a hook of a built-in pack, which runs in the surroundings of its event."""
    context = AROUND.get(None)
    if context is None:
        raise ModelError("launch", "there is no model to ask here")
    return answer_of(question, event, context, seconds)


def answer_of(question: Question, event: Event, context: HandlerContext, seconds: float) -> str:
    """What the model says; raises ModelError, whose kind is that of a failure."""
    if not context.has_audience(event):
        raise ModelError("launch", "a prompt hook needs an interactive caller; see `model.in_batch`")
    try:
        return Model(context, event.session_id, Deadline(seconds, context.cancel)).ask(question).text
    except DeadlineExceededError:
        raise ModelError("timeout", f"the model did not answer within {seconds:g} s") from None
    except CancelledError:
        raise ModelError("cancelled", "was cancelled") from None
