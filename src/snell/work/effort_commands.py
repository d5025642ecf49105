"""Start or resume an effort, and locate its log."""

import os
from typing import Any

from snell.model.protocols import Transaction
from snell.work import agents, artefacts, efforts, lookup, project_moves, projects, sessions, skills, tasks
from snell.work.errors import WorkError, invalid
from snell.work.rows import Record, now_ms
from snell.work.skill_files import ReadSkill


def start_effort(
    tx: Transaction,
    cwd: str,
    agent_id: str,
    task_name: str,
    skill: str,
    mode: str | None = None,
    metadata: dict[str, Any] | None = None,
    title: str | None = None,
    description: str | None = None,
    client_session_id: str | None = None,
    read_skill: ReadSkill | None = None,
) -> Record:
    """Create project, task, effort and session if they are missing; resume an active effort of the same skill."""
    if not task_name.strip() or not skill.strip():
        raise invalid("taskName and skill: must not be empty")
    project = projects.find_enclosing(tx, cwd) or projects.upsert(tx, cwd, os.path.basename(cwd) or None)
    folder = task_name if os.path.isabs(task_name) else tasks.folder_for(project["path"], task_name)
    task = tasks.upsert(tx, folder, project["id"], title=title or task_name, description=description)
    active = [each for each in efforts.list_(tx, task["dirPath"], "active") if each["skill"] == skill]
    config, problem = skills.load(tx, project["id"], skill, cwd, read_skill)
    if active:
        effort = take_phases(tx, active[-1], config)
    else:
        effort = efforts.start(tx, task["dirPath"], skill, mode, _with_skill_phases(config, metadata))
    opened = _open_session(tx, effort, agent_id, client_session_id)
    found = {"skillConfig": config, "skillProblem": problem, "resumed": bool(active)}
    return {**opened, "task": tasks.get(tx, task["dirPath"]), **found}


def resume_effort(
    tx: Transaction,
    cwd: str,
    agent_id: str,
    effort_id: int | None = None,
    client_session_id: str | None = None,
    read_skill: ReadSkill | None = None,
) -> Record:
    """Resume an effort in a new session; its project may have been moved to this directory."""
    project_moves.follow_move(tx, cwd)
    if effort_id is not None:
        project_moves.move_to(tx, tasks.get(tx, efforts.get(tx, effort_id)["taskId"]), cwd)
        effort: Record | None = efforts.get(tx, effort_id)
    else:
        effort = lookup.look_up(tx, cwd, agent_id, client_session_id or "").effort
    if effort is None:
        raise no_effort()
    if effort_id is not None and agent_id in ("", "default"):
        _unbind_agent(tx, effort_id)
    task = tasks.get(tx, effort["taskId"])
    config, problem = skills.load(tx, task["projectId"], effort["skill"], cwd, read_skill)
    opened = _open_session(tx, take_phases(tx, effort, config), agent_id, client_session_id)
    return {**opened, "task": task, "skillConfig": config, "skillProblem": problem, "resumed": True}


def take_phases(tx: Transaction, effort: Record, skill: Record | None) -> Record:
    """Give an effort without phases those of its skill, whose project may not have been trusted before."""
    added = {} if "phases" in effort["metadata"] else _with_skill_phases(skill, None)
    return {**effort, "metadata": efforts.update_metadata(tx, effort["id"], added)} if added else effort


def locate_log(
    tx: Transaction, cwd: str, agent_id: str, effort_id: int | None = None, kind: str = "LOG", window: str = ""
) -> Record:
    """Return the path of an effort's log. After writing to it the caller must call `reset_heartbeat`."""
    project_moves.follow_move(tx, cwd)
    found = lookup.look_up(tx, cwd, agent_id, window)
    effort = efforts.get(tx, effort_id) if effort_id is not None else found.effort
    if effort is None:
        raise no_effort()
    project_moves.require_folder(tx, effort, tasks.get(tx, effort["taskId"]))
    return {"path": artefacts.path_of(effort, kind), "effortId": effort["id"]}


def reset_heartbeat(tx: Transaction, effort_id: int) -> None:
    """Count the calls of an effort's sessions from zero, since the agent wrote into the log."""
    tx.do(
        "UPDATE sessions SET heartbeat_counter = 0, last_edit = '', last_heartbeat = ?"
        " WHERE effort_id = ? AND ended_at IS NULL",
        *(now_ms(), effort_id),
    )


def no_effort() -> WorkError:
    advice = "`snell effort start TASK SKILL` starts one"
    return WorkError("NO_ACTIVE_EFFORT", "no active effort in this project", advice=advice)


def _unbind_agent(tx: Transaction, effort_id: int) -> None:
    """Take an effort that was requested by id from an agent that has no window any more."""
    open_ = sessions.find(tx, effort_id)
    if open_ is None or not open_["clientSessionId"]:
        tx.do("UPDATE agents SET effort_id = NULL WHERE effort_id = ?", effort_id)


def _open_session(tx: Transaction, effort: Record, agent_id: str, client_session_id: str | None) -> Record:
    agents.bind(tx, agent_id, effort["id"])
    open_ = sessions.find(tx, effort["id"])
    is_here = open_ is not None and not open_["host"]
    is_ours = open_ and is_here and (not client_session_id or open_["clientSessionId"] in (None, client_session_id))
    session = open_ if is_ours else sessions.start(tx, effort["id"], client_session_id)
    return {"effort": effort, "session": session}


def _with_skill_phases(skill: Record | None, metadata: dict[str, Any] | None) -> dict[str, Any]:
    """Return the metadata with the skill's phases: a later change of the skill does not affect the effort."""
    phases = skill["phases"] if skill and isinstance(skill["phases"], list) else None
    return {**({"phases": phases} if phases else {}), **(metadata or {})}
