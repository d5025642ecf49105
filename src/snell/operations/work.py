"""Tasks, efforts, sessions and agents as people use them; `db.*` has an operation for each single row."""

import os
from typing import Annotated

from snell.model.protocols import Transaction
from snell.operations.declaration import about, operation
from snell.operations.effort import active_effort, active_ids
from snell.work import agents, efforts, projects, sessions, tasks
from snell.work.errors import WorkError
from snell.work.rows import Record

Folder = Annotated[str, about("the directory of the task", word=True)]
OneEffort = Annotated[int | None, about("the effort's id (default: the active one in this project)", word=True)]
OneSession = Annotated[int, about("the session's id", word=True)]
OneAgent = Annotated[str | None, about("the agent's name (default: AGENT_ID)", word=True)]
Text = str | None


@operation("task.list", verb=True)
def list_tasks(
    tx: Transaction, cwd: str, agent_id: str, all_: Annotated[bool, about("list the tasks of all projects")] = False
) -> list[Record]:
    """List the tasks of this project."""
    project = None if all_ else active_ids.run(tx, cwd, agent_id)["projectId"]
    return tasks.list_(tx, project)


@operation("task.show", verb=True)
def show_task(tx: Transaction, cwd: str, path: Folder) -> list[Record]:
    """Show the efforts of a task."""
    return efforts.list_(tx, tasks.get(tx, os.path.normpath(os.path.join(cwd, path)))["dirPath"])


@operation("task.add", verb=True, permission="writes")
def add_task(
    tx: Transaction,
    cwd: str,
    path: Folder,
    title: Annotated[Text, about("its title")] = None,
    description: Annotated[Text, about("its description")] = None,
    keywords: Annotated[Text, about("its keywords")] = None,
    workspace: Annotated[Text, about("its workspace")] = None,
) -> Record:
    """Add a directory as a task."""
    project, folder = projects.upsert(tx, cwd), os.path.normpath(os.path.join(cwd, path))
    return tasks.upsert(tx, folder, project["id"], workspace, title, description, keywords)


@operation("effort.list", verb=True)
def list_efforts(tx: Transaction, active: Annotated[bool, about("only unfinished efforts")] = False) -> list[Record]:
    """List efforts."""
    return efforts.list_(tx, lifecycle="active" if active else None)


@operation("effort.show", verb=True)
def show_effort(
    tx: Transaction, cwd: str, agent_id: str, id_: OneEffort = None, client_session_id: str | None = None
) -> Record:
    """Show an effort."""
    return efforts.get(tx, id_) if id_ is not None else active_effort(tx, cwd, agent_id, client_session_id)


@operation("effort.finish", verb=True, permission="writes")
def finish_effort(
    tx: Transaction,
    cwd: str,
    agent_id: str,
    id_: OneEffort = None,
    keywords: Annotated[Text, about("keywords for finding the task again")] = None,
    client_session_id: str | None = None,
) -> Record:
    """Finish an effort; it cannot be resumed."""
    wanted = id_ if id_ is not None else active_effort(tx, cwd, agent_id, client_session_id)["id"]
    return efforts.finish(tx, wanted, keywords)


@operation("session.list", verb=True)
def list_sessions(
    tx: Transaction,
    open_only: Annotated[bool, about("only open sessions", option="open")] = False,
    effort_id: Annotated[int | None, about("filter by effort", option="effort")] = None,
) -> list[Record]:
    """List sessions."""
    return sessions.list_(tx, effort_id, open_only)


@operation("session.show", verb=True)
def show_session(tx: Transaction, id_: OneSession) -> Record:
    """Show a session."""
    return sessions.get(tx, id_)


@operation("session.finish", verb=True, permission="writes")
def finish_session(tx: Transaction, id_: OneSession) -> Record:
    """End a session."""
    return sessions.finish(tx, id_)


@operation("agent.list", verb=True)
def list_agents(tx: Transaction) -> list[Record]:
    """List all agents."""
    return agents.list_(tx)


@operation("agent.register", verb=True, permission="writes")
def register_agent(
    tx: Transaction,
    agent_id: str,
    id_: OneAgent = None,
    label: Annotated[Text, about("its label")] = None,
    parent: Annotated[Text, about("its coordinator")] = None,
    manages: Annotated[Text, about("the agents that it manages")] = None,
) -> Record:
    """Register an agent."""
    return agents.register(tx, _agent_name(id_, agent_id), label=label, parent=parent, manages=manages)


@operation("agent.status", verb=True, permission="writes")
def set_agent_status(
    tx: Transaction,
    agent_id: str,
    status: Annotated[str, about("the new status", word=True, choices=agents.STATUSES)],
    id_: OneAgent = None,
) -> Record:
    """Set an agent's status."""
    return agents.update_status(tx, _agent_name(id_, agent_id), status)


def _agent_name(id_: str | None, agent_id: str) -> str:
    if not (id_ or agent_id):
        raise WorkError("COMMAND_ERROR", "no agent was named", advice="give its name, or set AGENT_ID")
    return id_ or agent_id
