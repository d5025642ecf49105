"""Handle the events of sub-agents and teammates, and derive an agent's status from events."""

from collections.abc import Mapping
from typing import Any

from snell.model.protocols import Transaction
from snell.work import agents, artefacts, efforts, messages, sessions, skills
from snell.work.hook_arguments import Caller, ConfigChange, SubagentStart, SubagentStop, TaskCompleted, TeammateIdle
from snell.work.lookup import look_up
from snell.work.rows import Record, json_of, union, update

ATTENTION = frozenset({"permission_prompt", "idle_prompt", "elicitation_dialog"})
STANDARDS = ("INVARIANTS.md", "ARCHITECTURE.md")  # a sub-agent does not get these


def subagent_start(tx: Transaction, call: SubagentStart, caller: Caller) -> Record:
    """Start a session for the sub-agent on its parent's effort; the parent's session stays open."""
    found = look_up(tx, call.cwd, caller.agent_id, call.session_id)
    if found.effort is None or found.session is None:
        return {"sessionId": None, "effortId": None, "logTemplate": None, "directives": [], "effortMetadata": None}
    own = sessions.start_for_subagent(tx, found.session, call.agent_id)
    named = [each.get("path") if isinstance(each, dict) else each for each in found.effort["discoveredDirectives"]]
    return {
        "sessionId": own["id"],
        "effortId": found.effort["id"],
        "logTemplate": artefacts.path_of(found.effort, f"{call.agent_type or 'agent'} log"),
        "directives": [each for each in named if isinstance(each, str) and not each.endswith(STANDARDS)],
        "effortMetadata": found.effort["metadata"],
    }


def subagent_stop(tx: Transaction, call: SubagentStop, caller: Caller) -> Record:
    """End the sub-agent's session and add the files that it read to the effort."""
    own = sessions.find_open(tx, call.session_id, call.agent_id)
    if own is None:
        return {"ended": False, "sessionId": None, "mergedFiles": []}
    sessions.finish(tx, own["id"], end_reason="subagent")
    effort = efforts.get(tx, own["effortId"])
    merged = union(effort["loadedFiles"], own["loadedFiles"])
    update(tx, "efforts", "id", effort["id"], {"loaded_files": merged})
    return {"ended": True, "sessionId": own["id"], "mergedFiles": merged}


def teammate_idle(tx: Transaction, call: TeammateIdle, caller: Caller) -> Record:
    """Set the teammate to done and signal its coordinator."""
    teammate = agents.find(tx, call.teammate_name)
    if teammate is None:
        return {"updated": False, "signalled": None}
    agents.update_status(tx, call.teammate_name, "done")
    return {"updated": True, "signalled": agents.signal(tx, teammate, "done", call.team_name)}


def task_completed(tx: Transaction, call: TaskCompleted, caller: Caller) -> Record:
    """Store a message; finish the effort if its metadata names this task as its end."""
    found = look_up(tx, call.cwd, caller.agent_id, call.session_id)
    effort = found.effort
    if effort is None or effort["lifecycle"] == "finished":
        return {"logged": False, "effortFinished": False, "signalled": None}
    if found.session:
        message = {"event": "TaskCompleted", "taskId": call.task_id, "subject": call.task_subject}
        messages.append(tx, found.session["id"], "system", json_of(message) or "")
    ends = effort["metadata"].get("finishOnTask")
    is_end = bool(ends) and ends in (call.task_id, call.task_subject)
    if is_end:
        efforts.finish(tx, effort["id"])
    who = agents.find(tx, call.teammate_name or caller.agent_id or "")
    signalled = agents.signal(tx, who, "done", call.task_subject) if who else None
    return {"logged": found.session is not None, "effortFinished": is_end, "signalled": signalled}


def config_change(tx: Transaction, call: ConfigChange, caller: Caller) -> Record:
    """Delete the parsed skills of a project when one of its skill files changed."""
    path = call.file_path or ""
    is_about_skills = "skill" in call.source.lower() or "/skills/" in path or path.endswith("SKILL.md")
    project = look_up(tx, call.cwd, caller.agent_id).project_id if is_about_skills else None
    return {"forgotten": skills.delete_all(tx, project) if project is not None else 0}


def status_after(event: str, fields: Mapping[str, Any]) -> str | None:
    """Return the agent's status after an event; None if the event does not change it."""
    if event == "Notification":
        return "attention" if fields.get("notification_type") in ATTENTION else None
    if event == "PostToolUseFailure":
        return None if fields.get("is_interrupt") is True else "error"
    if event == "Stop" and fields.get("trouble"):
        return "error"
    return _STATUS.get(event)


def set_status(tx: Transaction, caller: Caller, status: str, effort_id: int | None = None) -> Record | None:
    """
    Set the status of the calling agent and register it; an agent without an id of its own is not registered.

    Returns the agent if its status changed, with the coordinator that was signalled; else None.
    """
    if not caller.agent_id or caller.agent_id == "default":
        return None
    known = agents.find(tx, caller.agent_id)
    agents.clear_expired_lease(tx, known)
    if known and known["status"] == status and (not caller.pane or known["pane"] == caller.pane):
        return None
    given = {"parent": caller.parent, "manages": caller.manages, "claims": caller.claims}
    agents.register(
        tx,
        caller.agent_id,
        targeted_claims=caller.targeted_claims or None,
        effort_id=effort_id,
        pane=caller.pane,
        **{name: value or None for name, value in given.items()},
    )
    agent = agents.update_status(tx, caller.agent_id, status)
    signalled = agents.signal(tx, agent, status) if status in agents.WAKES else None
    return {**agent, "before": known["status"] if known else "idle", "signalled": signalled}


_STATUS = {
    "SessionStart": "idle",
    "UserPromptSubmit": "working",
    "PreToolUse": "working",
    "PostToolUse": "working",
    "PermissionRequest": "attention",
    "Stop": "done",
    "SessionEnd": "done",
}
