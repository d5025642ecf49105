"""Prompt hooks: ask a language model one question about the event. Its answer can deny or advise, but not allow."""

import re
from typing import ClassVar

from snell.handlers.event_json import event_for_others
from snell.handlers.waiting import within_limit
from snell.model.context import Context
from snell.model.decision import Outcome
from snell.model.events import Event
from snell.model.hooks import Handler, Hook
from snell.redact import redact_data
from snell.settings.handler_types import HandlerType
from snell.settings.schema import Key
from snell.system.deadline import Deadline

BRACE = "{"
_CONVERSATION = 12_000  # characters from its end that the model gets
_ARGUMENTS = re.compile(r"(?<!\\)\$ARGUMENTS\b")


class Prompt(Handler, frozen=True):
    kind: ClassVar[str] = "prompt"
    compared_by: ClassVar[tuple[str, ...]] = ("prompt",)

    prompt: str
    model: str = ""
    continue_on_block: bool = False


TYPE = HandlerType(
    name="prompt",
    help="a question to a language model",
    settings=Prompt,
    keys=(
        Key("prompt", "text", "the question; `$ARGUMENTS` stands for the event", is_required=True),
        Key("model", "text", "which model", default=""),
        Key("continue_on_block", "flag", "a refusal goes to the agent instead of ending its turn", default=False),
    ),
    default_timeout=30.0,
    identified_by=("prompt",),
    extra="http",
    waits_for_network=True,
    asks_model=True,
)


@within_limit
def run(hook: Hook, event: Event, context: Context, deadline: Deadline) -> Outcome:
    from snell.llm.client import answer_of  # slow to import, like the other modules of `llm`
    from snell.llm.messages import Message, Question
    from snell.llm.untrusted_text import RULES
    from snell.llm.verdict_answers import ANSWER_RULES, outcome_of_text

    prompt = hook.handler
    assert isinstance(prompt, Prompt)
    system = (
        "You check one event in the session of a coding agent. "
        f"{RULES} {ANSWER_RULES} If the question itself asks for another form, "
        'such as {"nudge": "advice"} or {"pass": true}, use that.'
    )
    question = Question(system, (Message("user", _question(prompt.prompt, event)),), prompt.model, begins=BRACE)
    text = answer_of(question, event, context, deadline.seconds)
    return outcome_of_text(text, event, begins=BRACE, ends_turn=not prompt.continue_on_block)


def _question(prompt: str, event: Event) -> str:
    """Return the prompt with the event filled in, after the end of the conversation."""
    from snell.llm.untrusted_text import fence
    from snell.system.transcripts import conversation

    shown = event_for_others(event)
    talk = conversation(event.transcript_path, _CONVERSATION)
    before = [fence(redact_data(talk), "the end of the conversation")] if talk else []
    if not _ARGUMENTS.search(prompt):
        before.append(fence(shown, "the event"))
    return "\n\n".join([*before, _ARGUMENTS.sub(lambda _: fence(shown, "the event"), prompt)])
