"""Read and write tasks: directories of efforts. A task never ends; it is active while one of its efforts is."""

import os

from snell.model.protocols import Transaction
from snell.work.errors import WorkError
from snell.work.projects import absolute_path
from snell.work.rows import Record, WorkTable, now_ms
from snell.work.rows import upsert as upsert_row

_TASKS = WorkTable(
    "task_summary",
    "dir_path project_id workspace title description keywords created_at effort_count active_count last_activity",
)


def upsert(
    tx: Transaction,
    dir_path: str,
    project_id: int,
    workspace: str | None = None,
    title: str | None = None,
    description: str | None = None,
    keywords: str | None = None,
) -> Record:
    """Insert or update a task; values that are not given stay."""
    given = {"workspace": workspace, "title": title, "description": description, "keywords": keywords}
    key, once = {"dir_path": absolute_path("dirPath", dir_path)}, {"project_id": project_id, "created_at": now_ms()}
    upsert_row(tx, "tasks", key, given, once)
    return get(tx, dir_path)


def find(tx: Transaction, dir_path: str) -> Record | None:
    found = _TASKS.first(tx, "WHERE dir_path = ?", os.path.normpath(dir_path))
    return _with_state(found) if found else None


def get(tx: Transaction, dir_path: str) -> Record:
    task = find(tx, dir_path)
    if task is None:
        raise WorkError("TASK_NOT_FOUND", f"there is no task `{dir_path}`", advice="`snell task list` lists all tasks")
    return task


def list_(tx: Transaction, project_id: int | None = None) -> list[Record]:
    """Return tasks, the most recently active first."""
    return [_with_state(task) for task in _TASKS.matching(tx, "last_activity DESC, dir_path", project_id=project_id)]


def folder_for(project_path: str, name: str) -> str:
    """Return the directory of a task of this name in its project."""
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in name.strip().lower())
    return os.path.join(project_path, ".tasks", plain.strip(".-") or "task")


def _with_state(task: Record) -> Record:
    return {**task, "state": "active" if task["activeCount"] else "dormant"}
