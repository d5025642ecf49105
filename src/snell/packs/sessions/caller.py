"""Find the calling agent and its limits, and run the hooks' work for it in one transaction."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from snell.model.context import Context
from snell.model.events import Event
from snell.model.protocols import Transaction
from snell.work import agents
from snell.work.errors import ANSWERED, run_or_none
from snell.work.rows import Record
from snell.work.skill_files import ReadSkill, read_skill


class Limits(Struct, frozen=True, kw_only=True):
    """Limits for notes and refusals; 0 = never. Context sizes are fractions."""

    heartbeat: int = 10
    heartbeat_warning: int = 3
    notice: float = 0.80
    warn: float = 0.90
    block: float = 0.0
    read_throttle: float = 0.0
    keeps_dialogue: bool = True
    joins_agents: bool = False


class Caller(Struct, frozen=True, kw_only=True):
    """The calling agent, the used part of its context if the client reports it, and its limits."""

    agent: agents.Caller = agents.Caller()
    usage: float | None = None
    limits: Limits = Limits()
    read_skill: ReadSkill | None = None

    @property
    def agent_id(self) -> str:
        return self.agent.agent_id


USAGE, IN_USE = "context_usage", ("work", "in_use")
_LIMITS = frozenset(Limits.__struct_fields__)
_known: dict[int, tuple[Mapping[str, Any], Limits]] = {}


def is_idle(context: Context, event: Event) -> bool:
    """
    Whether there is nothing to do: no task was ever started on this machine, or the caller was answered already.

    This runs at every event.
    """
    return context.database is None or not context.marks.get(*IN_USE) or ANSWERED in event.flags


def answer(context: Context, event: Event, work: Callable[[Transaction, Event, Caller], Record]) -> Record | None:
    """Return the answer of a function to an event; None when there is nothing to do, or the store cannot be used."""
    if is_idle(context, event):
        return None
    caller = caller_of(event, context)
    return run_or_none(context.database, lambda tx: work(tx, event, caller))


def caller_of(event: Event, context: Context) -> Caller:
    """Return the agent that sent an event, with its context usage and limits."""
    mark = context.marks.get(f"session:{event.session_id}", USAGE)
    return caller_for(context.env, context.options, mark, skill_reader(context))


def caller_for(
    env: Mapping[str, str], options: Mapping[str, Any], mark: Any = None, read_skill: ReadSkill | None = None
) -> Caller:
    """Return the agent of an environment, with its limits; `mark` is what is known of its context usage."""
    usage = usage_of(mark, options.get("context_window", 200_000))
    return Caller(agent=agents.caller_in(env), usage=usage, limits=limits_in(options), read_skill=read_skill)


def skill_reader(context: Context) -> ReadSkill:
    """Return how the file of a skill is read where an event happens."""
    return lambda name, cwd: read_skill(name, cwd, context)


def heartbeat_limit(effort: Record, caller: Caller) -> int:
    """Return the number of calls without a log entry after which a call is refused."""
    own = effort["metadata"].get("blockAfter")
    return own if isinstance(own, int) and not isinstance(own, bool) and own >= 0 else caller.limits.heartbeat


def limits_in(options: Mapping[str, Any]) -> Limits:
    """Return the limits among a pack's options; cached, since the same options come with every event."""
    known = _known.get(id(options))
    if known is None or known[0] is not options:
        chosen = {name: value for name, value in options.items() if name in _LIMITS}
        _known.clear()
        known = _known[id(options)] = (options, Limits(**chosen, keeps_dialogue=not options.get("ingest")))
    return known[1]


def usage_of(mark: Any, window: float = 200_000) -> float | None:
    """Return the used part of the context, from a status line or a transcript."""
    if not isinstance(mark, dict):
        return None
    percent, tokens = mark.get("used_percent"), mark.get("tokens")
    if isinstance(percent, int | float) and not isinstance(percent, bool):
        return min(max(percent / 100, 0.0), 1.0)
    size = mark.get("window")
    window = size if isinstance(size, int | float) and size > 0 else window
    if isinstance(tokens, int | float) and window > 0:
        return min(max(tokens / window, 0.0), 1.0)
    return None
