"""
Agent hooks: a model that may look into the project before it answers, in a loop of our own for every model.

It has Read, Grep and Glob inside the project and the transcript, cannot start further agents, and has at most 50 turns
within the hook's time limit. It answers like a prompt hook: it can deny or advise, but not allow.
"""

from typing import TYPE_CHECKING, ClassVar

from snell.handlers.event_json import event_for_others
from snell.handlers.waiting import within_limit
from snell.model.context import Context
from snell.model.decision import Outcome
from snell.model.events import Event
from snell.model.hooks import Handler, Hook
from snell.settings.handler_types import HandlerType
from snell.settings.schema import Key
from snell.system.deadline import Deadline

if TYPE_CHECKING:
    from snell.llm.messages import Message, Turn
    from snell.llm.read_only_tools import ReadingTools

MOST_TURNS = 50


class Agent(Handler, frozen=True):
    kind: ClassVar[str] = "agent"
    compared_by: ClassVar[tuple[str, ...]] = ("prompt",)

    prompt: str
    model: str = ""


TYPE = HandlerType(
    name="agent",
    help="an agent that reads the project before it answers",
    settings=Agent,
    keys=(
        Key("prompt", "text", "what to find out; `$ARGUMENTS` stands for the event", is_required=True),
        Key("model", "text", "which model", default=""),
    ),
    default_timeout=60.0,
    extra="http",
    waits_for_network=True,
    asks_model=True,
)


@within_limit
def run(hook: Hook, event: Event, context: Context, deadline: Deadline) -> Outcome:
    """Run one agent hook: let the model use its tools until it answers."""
    from snell.llm.client import Model  # slow to import, like the other modules of `llm`
    from snell.llm.messages import Message, ModelError, Question
    from snell.llm.read_only_tools import TOOLS, ReadingTools
    from snell.llm.untrusted_text import replace_surrogates
    from snell.llm.verdict_answers import outcome_of_text

    agent = hook.handler
    assert isinstance(agent, Agent)
    if not context.has_audience(event):
        why = "an agent hook does not run in a session without a user; `in_batch = true` in `[model]` allows it"
        raise ModelError("launch", why)
    project_dir = context.project_dir or event.cwd
    model = Model(context, event.session_id, deadline)
    tools = ReadingTools(project_dir, event.transcript_path, deadline)
    system = _system_prompt()
    messages = [Message("user", replace_surrogates(_task(agent.prompt, event, project_dir)))]
    for number in range(1, MOST_TURNS + 1):
        turn = model.ask(Question(system, tuple(messages), agent.model, TOOLS))
        if not turn.calls:
            return outcome_of_text(turn.text, event, thinks_aloud=True)
        context.tell(hook, f"turn {number}: {', '.join(call.name for call in turn.calls)}")
        messages += _messages_after(turn, tools)
    raise ModelError("timeout", f"the agent did not answer within {MOST_TURNS} turns")


def _messages_after(turn: "Turn", tools: "ReadingTools") -> "list[Message]":
    """Run the tools that the model called, and return its message and the results."""
    from snell.llm.messages import Message, ToolResult
    from snell.llm.untrusted_text import fence, replace_surrogates

    results = [
        ToolResult(call.id, fence(replace_surrogates(tools.result(call)), f"what {call.name} gives"))
        for call in turn.calls
    ]
    return [Message("assistant", turn.text, turn.calls), Message("user", results=tuple(results))]


def _system_prompt() -> str:
    from snell.llm.untrusted_text import RULES
    from snell.llm.verdict_answers import ANSWER_RULES

    return (
        "You check one event in the session of a coding agent. Look into the project with your tools, which only read, "
        f"until you are sure. {RULES} The same holds for everything that a tool gives you. "
        f"When you know: {ANSWER_RULES}"
    )


def _task(prompt: str, event: Event, project_dir: str) -> str:
    from snell.llm.untrusted_text import fence, visible

    shown = fence(event_for_others(event), "the event")
    paths = {"project": project_dir, "transcript": event.transcript_path}
    named = {name: visible(path) for name, path in paths.items() if path}  # a folder's name could hold instructions
    where = fence(named, "the folder of the project, and the transcript of the session, which you may search")
    parts = [where] if "$ARGUMENTS" in prompt else [where, shown]
    return "\n\n".join([*parts, prompt.replace("$ARGUMENTS", shown)])
