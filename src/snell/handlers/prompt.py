"""Prompt hooks: a question to a language model about the event. It can refuse or advise; it cannot approve."""

import re
import time

from msgspec.structs import replace

from snell.handlers.event_json import event_for_others
from snell.llm.ask import answer_of
from snell.llm.messages import Message, ModelError, Question
from snell.llm.untrusted_text import RULES, fence
from snell.llm.verdict_answers import ANSWER_RULES, outcome_of_text
from snell.model.context import Context
from snell.model.decision import Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook, Prompt
from snell.redact import redact_data
from snell.system.transcripts import conversation

BRACE = "{"
_SYSTEM = (
    "You check one event in the session of a coding agent. "
    f"{RULES} {ANSWER_RULES} If the question itself asks for another form, "
    'such as {"nudge": "advice"} or {"pass": true}, use that.'
)
_CONVERSATION = 12_000  # characters of it
_ARGUMENTS = re.compile(r"(?<!\\)\$ARGUMENTS\b")


def run(hook: Hook, event: Event, context: Context) -> Outcome:
    """Run one prompt hook."""
    start = time.perf_counter()
    return replace(_run(hook, event, context), seconds=time.perf_counter() - start)


def _run(hook: Hook, event: Event, context: Context) -> Outcome:
    prompt = hook.handler
    assert isinstance(prompt, Prompt)
    question = Question(_SYSTEM, (Message("user", _text(prompt.prompt, event)),), prompt.model, begins=BRACE)
    try:
        text = answer_of(question, event, context, hook.time_limit)
    except ModelError as error:
        return Outcome(failure=Failure(error.kind, str(error)))
    return outcome_of_text(text, event, begins=BRACE, ends_turn=not prompt.continue_on_block)


def _text(prompt: str, event: Event) -> str:
    """The question with the event in its place, and before it what the model should know."""
    shown = event_for_others(event)
    talk = conversation(event.transcript_path, _CONVERSATION)
    before = [fence(redact_data(talk), "the end of the conversation")] if talk else []
    if not _ARGUMENTS.search(prompt):
        before.append(fence(shown, "the event"))
    return "\n\n".join([*before, _ARGUMENTS.sub(lambda _: fence(shown, "the event"), prompt)])
