"""
Agent hooks: a model that may look into the project before it answers, with our own small loop, whoever is asked.

It has Read, Grep and Glob inside the project and the transcript, no way to start further agents, at most 50 turns,
and the hook's time. It answers as a prompt hook does, and like one it can only tighten.
"""

import time

from msgspec.structs import replace

from snell.handlers.event_json import event_for_others
from snell.llm.client import Model
from snell.llm.messages import Message, ModelError, Question, ToolResult
from snell.llm.read_only_tools import TOOLS, ReadingTools
from snell.llm.untrusted_text import RULES, fence, replace_surrogates, visible
from snell.llm.verdict_answers import ANSWER_RULES, outcome_of_text
from snell.model.context import Context
from snell.model.decision import Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Agent, Hook
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError

MOST_TURNS = 50
_SYSTEM = (
    "You check one event in the session of a coding agent. Look into the project with your tools, which only read, "
    f"until you are sure. {RULES} The same holds for everything that a tool gives you. When you know: {ANSWER_RULES}"
)


def run(hook: Hook, event: Event, context: Context) -> Outcome:
    """Run one agent hook."""
    start = time.perf_counter()
    outcome = _run(hook, event, context, Deadline(hook.time_limit, context.cancel))
    return replace(outcome, seconds=time.perf_counter() - start)


def _run(hook: Hook, event: Event, context: Context, deadline: Deadline) -> Outcome:
    if not context.has_audience(event):
        return Outcome(failure=Failure("launch", "an agent hook needs an interactive caller; see `model.in_batch`"))
    try:
        text = _answer(hook, event, context, deadline)
    except ModelError as error:
        return Outcome(failure=Failure(error.kind, str(error)))
    except DeadlineExceededError as error:
        return Outcome(
            failure=Failure("timeout", str(error) or f"the agent did not answer within {hook.time_limit:g} s")
        )
    except CancelledError:
        return Outcome(failure=Failure("cancelled", "was cancelled"))
    return outcome_of_text(text, event, thinks_aloud=True)


def _answer(hook: Hook, event: Event, context: Context, deadline: Deadline) -> str:
    agent = hook.handler
    assert isinstance(agent, Agent)
    project_dir = context.project_dir or event.cwd
    model = Model(context, event.session_id, deadline)
    tools = ReadingTools(project_dir, event.transcript_path, deadline)
    said = [Message("user", replace_surrogates(_task(agent.prompt, event, project_dir)))]
    for number in range(1, MOST_TURNS + 1):
        turn = model.ask(Question(_SYSTEM, tuple(said), agent.model, TOOLS))
        if not turn.calls:
            return turn.text
        context.tell(hook, f"turn {number}: {', '.join(call.name for call in turn.calls)}")
        results = [
            ToolResult(call.id, fence(replace_surrogates(tools.result(call)), f"what {call.name} gives"))
            for call in turn.calls
        ]
        said += [Message("assistant", turn.text, turn.calls), Message("user", results=tuple(results))]
    raise DeadlineExceededError(f"the agent did not answer within {MOST_TURNS} turns")


def _task(prompt: str, event: Event, project_dir: str) -> str:
    shown = fence(event_for_others(event), "the event")
    places = {"project": project_dir, "transcript": event.transcript_path}  # whoever names a folder can write in here
    named = {name: visible(path) for name, path in places.items() if path}
    where = fence(named, "the folder of the project, and the transcript of the session, which you may search")
    parts = [where] if "$ARGUMENTS" in prompt else [where, shown]
    return "\n\n".join([*parts, prompt.replace("$ARGUMENTS", shown)])
