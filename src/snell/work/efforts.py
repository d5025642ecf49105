"""Efforts: one run of a skill each, active until it is finished, across as many sessions as it takes."""

from typing import Any

from snell.model.protocols import Transaction
from snell.work import tasks
from snell.work.errors import WorkError, not_found
from snell.work.rows import Record, now_ms, select, update

COLUMNS = (
    "id task_id skill mode ordinal lifecycle current_phase discovered_directives discovered_directories loaded_files"
    " metadata created_at finished_at host"
)


def start(
    tx: Transaction, task_id: str, skill: str, mode: str | None = None, metadata: dict[str, Any] | None = None
) -> Record:
    """A new effort with the next ordinal of its task."""
    task = tasks.get(tx, task_id)
    # Two that start at once on a shared server wait for each other here, and so never get the same ordinal.
    tx.do("UPDATE tasks SET dir_path = dir_path WHERE dir_path = ?", task["dirPath"])
    ((last,),) = tx.rows("SELECT COALESCE(MAX(ordinal), 0) FROM efforts WHERE task_id = ?", task["dirPath"])
    ((id_,),) = tx.rows(
        "INSERT INTO efforts (task_id, skill, mode, ordinal, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id",
        *(task["dirPath"], skill, mode, last + 1, now_ms()),
    )
    if metadata:
        update(tx, "efforts", "id", id_, {"metadata": metadata})
    return get(tx, id_)


def finish(tx: Transaction, id: int, keywords: str | None = None) -> Record:  # noqa: A002 - the name in the protocol
    """
    The end of an effort; it is final. Its windows are free for the next one.

    A sub-agent that still works has something to hand back, so its session lasts until it stops.
    """
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


def get(tx: Transaction, id: int) -> Record:  # noqa: A002 - the name in the protocol
    found = select(tx, "efforts", COLUMNS, "WHERE id = ?", id)
    if not found:
        raise not_found("effort", id)
    return found[0]


def list_(tx: Transaction, task_id: str | None = None, lifecycle: str | None = None) -> list[Record]:
    wanted = [(name, value) for name, value in (("task_id", task_id), ("lifecycle", lifecycle)) if value is not None]
    where = "WHERE " + " AND ".join(f"{name} = ?" for name, _ in wanted) if wanted else ""
    return select(tx, "efforts", COLUMNS, f"{where} ORDER BY id", *(value for _, value in wanted))


def find_active(tx: Transaction, project_id: int, agent_id: str | None = None) -> Record | None:
    """The effort of this agent; for one that has none, and for nobody in particular, the newest of the project."""
    return _bound(tx, project_id, agent_id) or _newest(tx, project_id, _of_others(agent_id))


def for_window(tx: Transaction, project_id: int, agent_id: str | None = None) -> Record | None:
    """The same for a window, which begins to work on what it gets: nobody loses an effort to it."""
    others = _of_others(agent_id) or (_TAKEN, [])
    return _bound(tx, project_id, agent_id) or _newest(tx, project_id, others)


def get_metadata(tx: Transaction, id: int) -> Record:  # noqa: A002 - the name in the protocol
    metadata: Record = get(tx, id)["metadata"]
    return metadata


def update_metadata(tx: Transaction, id: int, metadata: dict[str, Any]) -> Record:  # noqa: A002 - the name in the protocol
    """Change some keys and keep the others; a key set to null goes."""
    known = get_metadata(tx, id)
    changed = {name: value for name, value in {**known, **metadata}.items() if value is not None}
    update(tx, "efforts", "id", id, {"metadata": changed})
    return changed


def _bound(tx: Transaction, project_id: int, agent_id: str | None) -> Record | None:
    if not agent_id or agent_id == "default":
        return None
    found = select(
        tx,
        "efforts",
        COLUMNS,
        "WHERE lifecycle = 'active'"
        " AND id = (SELECT effort_id FROM agents WHERE id = ? AND (holder = '' OR held_until < ?))"
        " AND task_id IN (SELECT dir_path FROM tasks WHERE project_id = ?)",
        *(agent_id, now_ms(), project_id),
    )
    return found[0] if found else None


def _of_others(agent_id: str | None) -> tuple[str, list[Any]] | None:
    """What leaves out the efforts of other agents; nobody in particular has no others."""
    if not agent_id or agent_id == "default":
        return None
    return " AND id NOT IN (SELECT effort_id FROM agents WHERE effort_id IS NOT NULL AND id <> ?)", [agent_id]


# Bound to an agent, and a window has worked on it: it is that agent's, also between two of its windows.
_TAKEN = (
    " AND NOT (id IN (SELECT effort_id FROM agents WHERE effort_id IS NOT NULL)"
    " AND id IN (SELECT effort_id FROM sessions WHERE client_session_id IS NOT NULL))"
)


def _newest(tx: Transaction, project_id: int, others: tuple[str, list[Any]] | None) -> Record | None:
    """INVARIANT: nobody gets an effort unasked that another machine works on."""
    left_out, values = others or ("", [])
    found = select(
        tx,
        "efforts",
        COLUMNS,
        "WHERE lifecycle = 'active' AND host = '' AND task_id IN (SELECT dir_path FROM tasks WHERE project_id = ?)"
        f"{left_out} ORDER BY id DESC LIMIT 1",
        *(project_id, *values),
    )
    return found[0] if found else None
