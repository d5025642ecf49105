"""Read and write tasks: directories of efforts. A task never ends; it is active while one of its efforts is."""

import os

from snell.model.protocols import Transaction
from snell.work.errors import WorkError
from snell.work.projects import absolute_path
from snell.work.rows import Record, now_ms, select

COLUMNS = "dir_path project_id workspace title description keywords created_at effort_count active_count last_activity"


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
    named = ("workspace", "title", "description", "keywords")
    keep = ", ".join(f"{name} = COALESCE(excluded.{name}, tasks.{name})" for name in named)
    tx.do(
        "INSERT INTO tasks (dir_path, project_id, workspace, title, description, keywords, created_at)"
        f" VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (dir_path) DO UPDATE SET {keep}",
        *(absolute_path("dirPath", dir_path), project_id, workspace, title, description, keywords, now_ms()),
    )
    return get(tx, dir_path)


def find(tx: Transaction, dir_path: str) -> Record | None:
    found = select(tx, "task_summary", COLUMNS, "WHERE dir_path = ?", os.path.normpath(dir_path))
    return _with_state(found[0]) if found else None


def get(tx: Transaction, dir_path: str) -> Record:
    task = find(tx, dir_path)
    if task is None:
        raise WorkError("TASK_NOT_FOUND", f"there is no task `{dir_path}`", advice="`snell task list` lists all tasks")
    return task


def list_(tx: Transaction, project_id: int | None = None) -> list[Record]:
    """Return tasks, the most recently active first."""
    where, values = ("WHERE project_id = ?", [project_id]) if project_id is not None else ("", [])
    found = select(tx, "task_summary", COLUMNS, f"{where} ORDER BY last_activity DESC, dir_path", *values)
    return [_with_state(task) for task in found]


def folder_for(project_path: str, name: str) -> str:
    """Return the directory of a task of this name in its project."""
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in name.strip().lower())
    return os.path.join(project_path, ".tasks", plain.strip(".-") or "task")


def _with_state(task: Record) -> Record:
    return {**task, "state": "active" if task["activeCount"] else "dormant"}
