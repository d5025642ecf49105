"""
Track sub-agents of an effort.

Why      What a sub-agent does belongs to the effort, and its calls are not its parent's.
What     Each has a session of its own in the parent's effort; at its end the effort gets the files that it read.
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
    """Start a session for the sub-agent, and tell it where to write its log."""
    if is_idle(context, event) or not agent.id:
        return None
    call = hook_arguments.SubagentStart(**common(event), agent_id=agent.id, agent_type=agent.type)
    result = in_transaction(context, lambda tx: agent_events.subagent_start(tx, call, caller_of(event, context)))
    if not result or result["sessionId"] is None:
        return None
    rules = f" Rules: {', '.join(result['directives'])}." if result["directives"] else ""
    return Note(f"You work on effort {result['effortId']}. Your log is `{result['logTemplate']}`.{rules}")


@informs("SubagentStop")
def end(event: Event, agent: AgentRun, context: Context) -> None:
    """End its session, and add the files that it read to the effort."""
    if not is_idle(context, event) and agent.id:
        call = hook_arguments.SubagentStop(**common(event), agent_id=agent.id, agent_type=agent.type)
        in_transaction(context, lambda tx: agent_events.subagent_stop(tx, call, caller_of(event, context)))


@informs("TaskCompleted")
def task_completed(event: Event, context: Context) -> None:
    """Store it as a message; it finishes the effort only if the effort is set so."""
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
    """Drop what is cached of skill files when one of them changed."""
    if is_idle(context, event):
        return
    call = hook_arguments.ConfigChange(
        **common(event), source=text_in(event.payload, "source"), file_path=text_in(event.payload, "file_path") or None
    )
    in_transaction(context, lambda tx: agent_events.config_change(tx, call, caller_of(event, context)))
