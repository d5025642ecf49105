"""Determine the calling agent and its limits: from its environment, the pack's options and the client's figures."""

from collections.abc import Callable, Mapping
from typing import Any

from snell.model.context import Context
from snell.model.errors import StoreError
from snell.model.events import Event
from snell.model.protocols import T, Transaction
from snell.work.errors import WorkError
from snell.work.hook_arguments import Caller, Limits

USAGE, IN_USE = "context_usage", ("work", "in_use")
ANSWERED = "work-answered"  # a flag of events from a remote call, which has called the work layer itself
_LIMITS = frozenset(Limits.__struct_fields__)
_known: dict[int, tuple[Mapping[str, Any], Limits]] = {}


def is_idle(context: Context, event: Event) -> bool:
    """
    Whether there is nothing to do: no task was ever started on this machine, or the caller was answered already.

    This runs at every event.
    """
    return context.database is None or not context.marks.get(*IN_USE) or ANSWERED in event.flags


def in_transaction(context: Context, work: Callable[[Transaction], T]) -> T | None:
    """Run this in a transaction; None when the store cannot be used, so that the agent can go on."""
    try:
        return context.database.run(work) if context.database else None
    except (StoreError, WorkError):
        return None


def caller_of(event: Event, context: Context) -> Caller:
    """Return the agent that sent an event, with its context usage and limits."""
    usage = usage_of(
        context.marks.get(f"session:{event.session_id}", USAGE), context.options.get("context_window", 200_000)
    )
    return caller_for(context.env, context.options, usage)


def caller_for(env: Mapping[str, str], options: Mapping[str, Any], usage: float | None = None) -> Caller:
    """Return the agent of an environment, with its limits."""
    limits = limits_in(options)
    agent_id = env.get("AGENT_ID", "")
    if not agent_id or agent_id == "default":
        return Caller(usage=usage, limits=limits)
    return Caller(
        agent_id=agent_id,
        parent=env.get("AGENT_PARENT", ""),
        manages=env.get("AGENT_MANAGES", ""),
        claims=env.get("AGENT_CLAIMS", ""),
        targeted_claims=env.get("AGENT_TARGETED_CLAIMS", ""),
        usage=usage,
        limits=limits,
    )


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


def common(event: Event) -> dict[str, Any]:
    """Return the fields that every event has."""
    return {
        "session_id": event.session_id,
        "transcript_path": event.transcript_path,
        "cwd": event.cwd,
        "hook_event_name": event.name,
    }
