"""Events, hooks and decisions in one line each, through the real engine."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from snell.engine.decide import decide
from snell.engine.registry import Registry
from snell.model.context import Context
from snell.model.decision import Decision, Failure, Outcome
from snell.model.events import Event, event_from
from snell.model.hooks import Hook, Inline, Scope, Switches
from snell.model.protocols import Condition, Store, Validate
from snell.runtime.event_flow import run_decision
from snell.store.in_memory import InMemoryStore

SESSION = "s1"


def event(name: str, **payload: Any) -> Event:
    """An event of the session `s1`, from any client."""
    return event_from({"session_id": SESSION, **payload}, name)


def call(command: str = "ls", *, name: str = "PreToolUse", tool: str = "Bash", **payload: Any) -> Event:
    """A tool event with a shell command as its input."""
    return event(name, **{"tool_name": tool, "tool_input": {"command": command}, **payload})


def hook(id_: str, answer: Any = None, *, on: str = "PreToolUse", **fields: Any) -> Hook:
    """A hook that gives this answer: effects, a whole outcome, an error to raise, or a function of the event."""
    return Hook(**{"id": id_, "event": on, "handler": Inline(_function(answer)), **fields})


def policy(id_: str, answer: Any = None, **fields: Any) -> Hook:
    return hook(id_, answer, scope=Scope.POLICY, **fields)


def decide_event(
    event: Event,
    *hooks: Hook,
    marks: Store | None = None,
    switches: Switches | None = None,
    condition: Condition | None = None,
    validate: Validate | None = None,
    executor: "RecordingExecutor | None" = None,
) -> Decision:
    """What the engine makes of this event."""
    registry = Registry(hooks, switches=switches, condition=condition)
    return run_decision(
        decide(event, registry, marks or InMemoryStore(), validate), executor or RecordingExecutor(), Context()
    )


class RecordingExecutor:
    """Runs inline hooks at once and records which of them ran together on what input."""

    def __init__(self) -> None:
        self.rounds: list[tuple[list[str], Any]] = []

    def run(self, hooks: Sequence[Hook], event: Event, _context: Context) -> list[Outcome]:
        self.rounds.append(([hook.id for hook in hooks], event.rewritable))
        return [_outcome(hook, event) for hook in hooks]


def summary_of(decision: Decision) -> dict[str, Any]:
    """What a decision says, without its trace; empty parts left out."""
    said = {
        "verdict": decision.verdict.name.lower(),
        "reasons": [(each.hook, each.text) for each in decision.reasons],
        "notes": [(each.hook, each.text) for each in decision.notes],
        "tells": [(each.hook, each.text) for each in decision.tells],
        "stop": (decision.stop.hook, decision.stop.text) if decision.stop else None,
        "changes": [(each.hook, each.after) for each in decision.changes],
        "env": decision.env,
        "extras": decision.extras,
        "failures": [each.hook for each in decision.failures],
        "skipped": [each.hook for each in decision.skipped],
    }
    return {name: value for name, value in said.items() if value}


def without_times(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Outcomes without the time they took."""
    return [replace(outcome, seconds=0.0) for outcome in outcomes]


def _function(answer: Any) -> Callable[[Event], Any]:
    if callable(answer) and not isinstance(answer, type):
        return answer  # type: ignore[no-any-return]  # whatever it returns is the answer
    return lambda _event: answer


def _outcome(hook: Hook, event: Event) -> Outcome:
    assert isinstance(hook.handler, Inline)
    answer = hook.handler.function(event)
    if isinstance(answer, Outcome):
        return answer
    if isinstance(answer, Exception):
        return Outcome(failure=Failure("crash", f"{type(answer).__name__}: {answer}"))
    effects = () if answer is None else answer if isinstance(answer, list | tuple) else (answer,)
    return Outcome(effects=tuple(effects))
