"""
Track the status of agents.

Why      Twenty agents cannot be watched one by one.
What     Events set the status of the agent that AGENT_ID names: working, attention, checked, error, done or idle. Its
         coordinator (AGENT_PARENT, or one whose AGENT_MANAGES names it) is told of attention, error and done.
Instead  `enabled = false` in `[pack.fleet]`, or no AGENT_ID.
"""

from snell.model.context import Context
from snell.model.effects import Note
from snell.model.events import Event, text_in
from snell.packs.fleet.panes import address_in
from snell.packs.fleet.service import serve
from snell.sdk.decorators import informs
from snell.system.transcripts import tail_of
from snell.work import agents
from snell.work.agents import Caller
from snell.work.errors import ANSWERED, run_or_none
from snell.work.transcript_end import find_failure


@informs(
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "Notification",
    "Stop",
    "SessionEnd",
)
def status(event: Event, context: Context) -> Note | None:
    """Set the agent's status; a coordinator gets the signals of its agents with its next prompt."""
    agent_id = context.env.get("AGENT_ID", "")
    if not agent_id or agent_id == "default" or context.database is None:
        return None
    trouble = find_failure(tail_of(event.transcript_path)) if event.name == "Stop" else ""
    wanted = None if ANSWERED in event.flags else agents.status_after(event.name, event.payload, trouble)
    pane = address_in(context.env)
    if wanted:
        caller = agents.caller_in(context.env)
        run_or_none(context.database, lambda tx: agents.set_status(tx, caller, wanted, pane=pane))
    elif pane:
        run_or_none(context.database, lambda tx: agents.register(tx, agent_id, pane=pane))
    if pane:
        serve(context.database, context.options)
    return _signals(agent_id, context) if event.name == "UserPromptSubmit" else None


@informs("TeammateIdle")
def mark_idle_teammate(event: Event, context: Context) -> None:
    """Mark an idle teammate as done, and tell its coordinator."""
    if text_in(event.payload, "teammate_name") and ANSWERED not in event.flags:
        run_or_none(context.database, lambda tx: agents.teammate_idle(tx, event, Caller()))


def _signals(agent_id: str, context: Context) -> Note | None:
    waiting = run_or_none(context.database, lambda tx: agents.take_signals(tx, agent_id)) or []
    lines = [
        f"- {each['agent']}: {each['status']}{': ' + each['text'] if each.get('text') else ''}" for each in waiting
    ]
    return Note("\n".join(["Your agents:", *lines])) if lines else None
