"""Read and write efforts: an effort is one run of a skill, over any number of sessions until it is finished."""

from typing import Any

from snell.model.protocols import Transaction
from snell.work import tasks
from snell.work.errors import WorkError
from snell.work.rows import Record, WorkTable, now_ms, update

EFFORTS = WorkTable(
    "efforts",
    "id task_id skill mode ordinal lifecycle current_phase discovered_directives discovered_directories loaded_files"
    " metadata created_at finished_at host",
    "effort",
)
get = EFFORTS.get


def start(
    tx: Transaction, task_id: str, skill: str, mode: str | None = None, metadata: dict[str, Any] | None = None
) -> Record:
    """Insert an effort with the next ordinal of its task."""
    task = tasks.get(tx, task_id)
    # Lock the task, so that two efforts that start at once on a shared server never get the same ordinal.
    tx.do("UPDATE tasks SET dir_path = dir_path WHERE dir_path = ?", task["dirPath"])
    ((last,),) = tx.rows("SELECT COALESCE(MAX(ordinal), 0) FROM efforts WHERE task_id = ?", task["dirPath"])
    given = {"task_id": task["dirPath"], "skill": skill, "mode": mode, "ordinal": last + 1, "created_at": now_ms()}
    return EFFORTS.insert(tx, **given, **({"metadata": metadata} if metadata else {}))


def get_unfinished(tx: Transaction, id_: int) -> Record:
    """Return an effort that can still change. Raises EFFORT_FINISHED."""
    effort = get(tx, id_)
    if effort["lifecycle"] == "finished":
        raise WorkError("EFFORT_FINISHED", f"effort {id_} is finished", advice="start a new one")
    return effort


def finish(tx: Transaction, id: int, keywords: str | None = None) -> Record:  # noqa: A002 - the name in the protocol
    """Finish an effort for good and end its sessions, except those of sub-agents that still work."""
    effort = get(tx, id)
    if effort["lifecycle"] == "finished":
        raise WorkError("ALREADY_FINISHED", f"effort {id} is finished", advice="start a new one")
    update(tx, "efforts", "id", id, {"lifecycle": "finished", "finished_at": now_ms()})
    tx.do(
        "UPDATE sessions SET ended_at = ?, end_reason = 'finished'"
        " WHERE effort_id = ? AND ended_at IS NULL AND subagent_id = ''",
        *(now_ms(), id),
    )
    if keywords is not None:
        update(tx, "tasks", "dir_path", effort["taskId"], {"keywords": keywords})
    return get(tx, id)


def list_(tx: Transaction, task_id: str | None = None, lifecycle: str | None = None) -> list[Record]:
    return EFFORTS.matching(tx, "id", task_id=task_id, lifecycle=lifecycle)


def find_active(tx: Transaction, project_id: int, agent_id: str | None = None) -> Record | None:
    """Return the effort of an agent; without one, or without an agent id, the newest of the project."""
    return _effort_of_agent(tx, project_id, agent_id) or _newest(tx, project_id, _without_others(agent_id))


def find_for_window(tx: Transaction, project_id: int, agent_id: str | None = None) -> Record | None:
    """Return the effort for a new window, without efforts that another agent works on."""
    others = _without_others(agent_id) or (_NOT_TAKEN, [])
    return _effort_of_agent(tx, project_id, agent_id) or _newest(tx, project_id, others)


def get_metadata(tx: Transaction, id: int) -> Record:  # noqa: A002 - the name in the protocol
    metadata: Record = get(tx, id)["metadata"]
    return metadata


def update_metadata(tx: Transaction, id: int, metadata: dict[str, Any]) -> Record:  # noqa: A002 - the name in the protocol
    """Change some keys and keep the others; null deletes a key."""
    known = get_metadata(tx, id)
    changed = {name: value for name, value in {**known, **metadata}.items() if value is not None}
    update(tx, "efforts", "id", id, {"metadata": changed})
    return changed


def _effort_of_agent(tx: Transaction, project_id: int, agent_id: str | None) -> Record | None:
    if not agent_id or agent_id == "default":
        return None
    return EFFORTS.first(
        tx,
        "WHERE lifecycle = 'active'"
        " AND id = (SELECT effort_id FROM agents WHERE id = ? AND (holder = '' OR held_until < ?))"
        " AND task_id IN (SELECT dir_path FROM tasks WHERE project_id = ?)",
        *(agent_id, now_ms(), project_id),
    )


def _without_others(agent_id: str | None) -> tuple[str, list[Any]] | None:
    """Return the condition that excludes efforts of other agents; None without an agent id."""
    if not agent_id or agent_id == "default":
        return None
    return " AND id NOT IN (SELECT effort_id FROM agents WHERE effort_id IS NOT NULL AND id <> ?)", [agent_id]


# Excludes efforts of agents that a window has worked on: they stay the agent's between two of its windows.
_NOT_TAKEN = (
    " AND NOT (id IN (SELECT effort_id FROM agents WHERE effort_id IS NOT NULL)"
    " AND id IN (SELECT effort_id FROM sessions WHERE client_session_id IS NOT NULL))"
)


def _newest(tx: Transaction, project_id: int, others: tuple[str, list[Any]] | None) -> Record | None:
    """INVARIANT: an effort that another machine works on is only returned when it is requested by id."""
    left_out, values = others or ("", [])
    return EFFORTS.first(
        tx,
        "WHERE lifecycle = 'active' AND host = '' AND task_id IN (SELECT dir_path FROM tasks WHERE project_id = ?)"
        f"{left_out} ORDER BY id DESC LIMIT 1",
        *(project_id, *values),
    )
