"""
Sub-agents of an effort.

Why      What a sub-agent does belongs to the effort, and its calls are not its parent's.
What     Each has a session of its own on the parent's effort; what it read is known to the effort when it ends.
Instead  `enabled = false` in `[pack.sessions]`.
"""

from snell.model.context import Context
from snell.model.effects import Note
from snell.model.events import Event, text_in
from snell.packs.sessions.caller import caller_of, common, in_transaction, is_idle
from snell.sdk.decorators import informs
from snell.sdk.subjects import AgentRun
from snell.work import agent_events, hook_arguments


@informs("SubagentStart")
def begin(event: Event, agent: AgentRun, context: Context) -> Note | None:
    """Begin a session for the sub-agent, and say where it may write its log."""
    if is_idle(context, event) or not agent.id:
        return None
    call = hook_arguments.SubagentStart(**common(event), agent_id=agent.id, agent_type=agent.type)
    said = in_transaction(context, lambda tx: agent_events.subagent_start(tx, call, caller_of(event, context)))
    if not said or said["sessionId"] is None:
        return None
    rules = f" Rules: {', '.join(said['directives'])}." if said["directives"] else ""
    return Note(f"You work on effort {said['effortId']}. Your log is `{said['logTemplate']}`.{rules}")


@informs("SubagentStop")
def end(event: Event, agent: AgentRun, context: Context) -> None:
    """End its session; the effort knows what it read."""
    if not is_idle(context, event) and agent.id:
        call = hook_arguments.SubagentStop(**common(event), agent_id=agent.id, agent_type=agent.type)
        in_transaction(context, lambda tx: agent_events.subagent_stop(tx, call, caller_of(event, context)))


@informs("TaskCompleted")
def task_completed(event: Event, context: Context) -> None:
    """Keep it as a message; it finishes the effort only where the effort says so."""
    if is_idle(context, event):
        return
    call = hook_arguments.TaskCompleted(
        **common(event),
        task_id=text_in(event.payload, "task_id"),
        task_subject=text_in(event.payload, "task_subject"),
        teammate_name=text_in(event.payload, "teammate_name") or None,
    )
    in_transaction(context, lambda tx: agent_events.task_completed(tx, call, caller_of(event, context)))


@informs("ConfigChange")
def config_changed(event: Event, context: Context) -> None:
    """Forget what was read of skill files when one of them changed."""
    if is_idle(context, event):
        return
    call = hook_arguments.ConfigChange(
        **common(event), source=text_in(event.payload, "source"), file_path=text_in(event.payload, "file_path") or None
    )
    in_transaction(context, lambda tx: agent_events.config_change(tx, call, caller_of(event, context)))
