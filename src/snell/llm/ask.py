"""Ask the user's language model one question about an event."""

from snell.llm.client import Model
from snell.llm.messages import ModelError, Question
from snell.model.events import Event
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.handler_context import AROUND, HandlerContext


def answer_in_pack(question: Question, event: Event, seconds: float) -> str:
    """Ask from a hook of a built-in pack, with the context of the event that is being handled."""
    context = AROUND.get(None)
    if context is None:
        raise ModelError("launch", "there is no model to ask")
    return answer_of(question, event, context, seconds)


def answer_of(question: Question, event: Event, context: HandlerContext, seconds: float) -> str:
    """Return the text of the model's answer. Raises ModelError."""
    if not context.has_audience(event):
        raise ModelError("launch", "a prompt hook needs an interactive caller; see `model.in_batch`")
    try:
        return Model(context, event.session_id, Deadline(seconds, context.cancel)).ask(question).text
    except DeadlineExceededError:
        raise ModelError("timeout", f"the model did not answer within {seconds:g} s") from None
    except CancelledError:
        raise ModelError("cancelled", "was cancelled") from None
