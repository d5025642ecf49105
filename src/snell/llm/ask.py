"""Ask the user's language model one question about an event."""

from snell.llm.client import Model
from snell.llm.messages import ModelError, Question
from snell.model.context import CURRENT_CONTEXT, Context
from snell.model.events import Event
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError


def answer_in_pack(question: Question, event: Event, seconds: float) -> str:
    """Ask from a hook of a built-in pack, with the context of the event that is being handled."""
    return answer_of(question, event, CURRENT_CONTEXT.get(), seconds)


def answer_of(question: Question, event: Event, context: Context, seconds: float) -> str:
    """Return the text of the model's answer. Raises ModelError."""
    if not context.has_audience(event):
        why = "a prompt hook does not run in a session without a user; `in_batch = true` in `[model]` allows it"
        raise ModelError("launch", why)
    try:
        return Model(context, event.session_id, Deadline(seconds, context.cancel)).ask(question).text
    except DeadlineExceededError:
        raise ModelError("timeout", f"the model did not answer within {seconds:g} s") from None
    except CancelledError:
        raise ModelError("cancelled", "was cancelled") from None
