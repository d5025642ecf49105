"""
Track the status of agents.

Why      Twenty agents cannot be watched one by one.
What     Events set the status of the agent that AGENT_ID names: working, attention, checked, error, done or idle. Its
         coordinator (AGENT_PARENT, or one whose AGENT_MANAGES names it) is told of attention, error and done.
Instead  `enabled = false` in `[pack.fleet]`, or no AGENT_ID.
"""

from snell.model.context import Context
from snell.model.effects import Note
from snell.model.errors import StoreError
from snell.model.events import Event, text_in
from snell.packs.fleet.panes import show
from snell.sdk.decorators import informs
from snell.work import agent_events, agents, hook_arguments
from snell.work.errors import WorkError
from snell.work.hook_arguments import Caller

ANSWERED = "work-answered"  # a flag of events from a remote call, which sets the status itself


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
    if not agent_id or agent_id == "default" or context.database is None or ANSWERED in event.flags:
        return None
    trouble = context.marks.get(f"session:{event.session_id}", "trouble") if event.name == "Stop" else ""
    wanted = agent_events.status_after(event.name, {**event.payload, "trouble": trouble})
    if wanted:  # the status before is read from the store: users and other programs change it, too
        _set(wanted, agent_id, context)
    return _signals(agent_id, context) if event.name == "UserPromptSubmit" else None


@informs("TeammateIdle")
def teammate_idle(event: Event, context: Context) -> None:
    """Mark an idle teammate as done, and tell its coordinator."""
    name = text_in(event.payload, "teammate_name")
    if not name or context.database is None or ANSWERED in event.flags:
        return
    call = hook_arguments.TeammateIdle(
        session_id=event.session_id,
        transcript_path=event.transcript_path,
        cwd=event.cwd,
        hook_event_name=event.name,
        teammate_name=name,
        team_name=text_in(event.payload, "team_name"),
    )
    try:
        result = context.database.run(lambda tx: agent_events.teammate_idle(tx, call, Caller()))
    except StoreError:
        return
    if result["updated"]:
        context.marks.put(f"agent:{name}", "status", "done")


def _set(wanted: str, agent_id: str, context: Context) -> None:
    env = context.env
    caller = Caller(
        agent_id=agent_id,
        parent=env.get("AGENT_PARENT", ""),
        manages=env.get("AGENT_MANAGES", ""),
        claims=env.get("AGENT_CLAIMS", ""),
        targeted_claims=env.get("AGENT_TARGETED_CLAIMS", ""),
        pane=env.get("TMUX_PANE", ""),
    )
    assert context.database is not None  # checked by the caller
    try:
        changed = context.database.run(lambda tx: agent_events.set_status(tx, caller, wanted))
    except (StoreError, WorkError):
        return
    context.marks.put(f"agent:{agent_id}", "status", wanted)
    if changed and context.options.get("tmux"):
        settle = float(context.options.get("settle", 0.2))
        show(env, changed["before"], wanted, settle, lambda: context.marks.get(f"agent:{agent_id}", "status") == wanted)


def _signals(agent_id: str, context: Context) -> Note | None:
    assert context.database is not None  # checked by the caller
    try:
        waiting = context.database.run(lambda tx: agents.take_signals(tx, agent_id))
    except StoreError:
        return None
    lines = [
        f"- {each['agent']}: {each['status']}{': ' + each['text'] if each.get('text') else ''}" for each in waiting
    ]
    return Note("\n".join(["Your agents:", *lines])) if lines else None
