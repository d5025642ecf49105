"""
Track sub-agents of an effort.

Why      What a sub-agent does belongs to the effort, and its calls are not its parent's.
What     Each has a session of its own in the parent's effort; at its end the effort gets the files that it read.
Instead  `enabled = false` in `[pack.sessions]`.
"""

from snell.model.context import Context
from snell.model.effects import Note
from snell.model.events import Event, text_in
from snell.model.protocols import Transaction
from snell.packs.sessions.caller import Caller, answer
from snell.redact import redact
from snell.sdk.decorators import informs
from snell.sdk.subjects import AgentRun
from snell.work import agents, artefacts, efforts, messages, sessions, skills
from snell.work.lookup import look_up
from snell.work.rows import Record, json_of, union, update

STANDARDS = ("INVARIANTS.md", "ARCHITECTURE.md")  # a sub-agent does not get these


@informs("SubagentStart")
def start_subagent_session(event: Event, agent: AgentRun, context: Context) -> Note | None:
    """Start a session for the sub-agent, and tell it where to write its log."""
    result = answer(context, event, subagent_start) if agent.id else None
    if not result or result["sessionId"] is None:
        return None
    rules = f" Rules: {', '.join(result['directives'])}." if result["directives"] else ""
    return Note(f"You work on effort {result['effortId']}. Your log is `{result['logTemplate']}`.{rules}")


@informs("SubagentStop")
def end_subagent_session(event: Event, agent: AgentRun, context: Context) -> None:
    """End its session, and add the files that it read to the effort."""
    if agent.id:
        answer(context, event, subagent_stop)


@informs("TaskCompleted")
def store_completed_task(event: Event, context: Context) -> None:
    """Store it as a message; it finishes the effort only if the effort is set so."""
    answer(context, event, complete_task)


@informs("ConfigChange")
def drop_skill_cache(event: Event, context: Context) -> None:
    """Drop what is cached of skill files when one of them changed."""
    answer(context, event, config_change)


def subagent_start(tx: Transaction, event: Event, caller: Caller) -> Record:
    """Start a session for the sub-agent on its parent's effort; the parent's session stays open."""
    found = look_up(tx, event.cwd, caller.agent_id, event.session_id)
    if found.effort is None or found.session is None:
        return {"sessionId": None, "effortId": None, "logTemplate": None, "directives": [], "effortMetadata": None}
    own = sessions.start_for_subagent(tx, found.session, event.agent_id)
    named = [each.get("path") if isinstance(each, dict) else each for each in found.effort["discoveredDirectives"]]
    return {
        "sessionId": own["id"],
        "effortId": found.effort["id"],
        "logTemplate": artefacts.path_of(found.effort, f"{text_in(event.payload, 'agent_type') or 'agent'} log"),
        "directives": [each for each in named if isinstance(each, str) and not each.endswith(STANDARDS)],
        "effortMetadata": found.effort["metadata"],
    }


def subagent_stop(tx: Transaction, event: Event, caller: Caller) -> Record:
    """End the sub-agent's session and add the files that it read to the effort."""
    own = sessions.find_open(tx, event.session_id, event.agent_id)
    if own is None:
        return {"ended": False, "sessionId": None, "mergedFiles": []}
    sessions.finish(tx, own["id"], end_reason="subagent")
    effort = efforts.get(tx, own["effortId"])
    merged = union(effort["loadedFiles"], own["loadedFiles"])
    update(tx, "efforts", "id", effort["id"], {"loaded_files": merged})
    return {"ended": True, "sessionId": own["id"], "mergedFiles": merged}


def complete_task(tx: Transaction, event: Event, caller: Caller) -> Record:
    """Store a message; finish the effort if its metadata names this task as its end."""
    found = look_up(tx, event.cwd, caller.agent_id, event.session_id)
    effort = found.effort
    if effort is None or effort["lifecycle"] == "finished":
        return {"logged": False, "effortFinished": False, "signalled": None}
    task_id, subject = (redact(text_in(event.payload, name)) for name in ("task_id", "task_subject"))
    if found.session:
        message = {"event": "TaskCompleted", "taskId": task_id, "subject": subject}
        messages.append(tx, found.session["id"], "system", json_of(message) or "")
    ends = effort["metadata"].get("finishOnTask")
    is_end = bool(ends) and ends in (task_id, subject)
    if is_end:
        efforts.finish(tx, effort["id"])
    who = agents.find(tx, text_in(event.payload, "teammate_name") or caller.agent_id)
    signalled = agents.signal(tx, who, "done", subject) if who else None
    return {"logged": found.session is not None, "effortFinished": is_end, "signalled": signalled}


def config_change(tx: Transaction, event: Event, caller: Caller) -> Record:
    """Delete the parsed skills of a project when one of its skill files changed."""
    path, source = (text_in(event.payload, name) for name in ("file_path", "source"))
    is_about_skills = "skill" in source.lower() or "/skills/" in path or path.endswith("SKILL.md")
    project = look_up(tx, event.cwd, caller.agent_id).project_id if is_about_skills else None
    return {"forgotten": skills.delete_all(tx, project) if project is not None else 0}
