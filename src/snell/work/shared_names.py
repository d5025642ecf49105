"""
Give projects and tasks names that are the same on every machine.

The name of a project is its repository, or its path without one; the name of a task is its project's name and its path
in it. A project without a directory on this machine has its name in the column of the path.
"""

import os
from collections.abc import Callable

from snell.model.protocols import Transaction
from snell.work import projects

NameOf = Callable[[str], str]  # returns the name of the project in a directory


def give_names(tx: Transaction, name_of: NameOf) -> None:
    """Name all rows that have no name yet."""
    for id_, path in tx.rows("SELECT id, path FROM projects WHERE uid IS NULL"):
        name_project(tx, id_, path, name_of(path) or path)
    unnamed = "SELECT t.dir_path, p.path, p.uid FROM tasks t JOIN projects p ON p.id = t.project_id WHERE t.uid IS NULL"
    for folder, path, uid in tx.rows(unnamed):
        tx.do("UPDATE tasks SET uid = ? WHERE dir_path = ?", task_name(folder, path, uid), folder)
    for table in ("efforts", "sessions", "phase_history", "messages"):
        tx.do(f"UPDATE {table} SET uid = lower(hex(randomblob(10))) WHERE uid IS NULL")


def name_project(tx: Transaction, id_: int, path: str, name: str) -> None:
    """Name a project; one of other machines with the same name and no directory here is merged into it."""
    found = tx.rows("SELECT id, path FROM projects WHERE uid = ? AND id <> ?", name, id_)
    if found and found[0][1] != name:
        name = path  # a second checkout of a repository is another project, with its own tasks
    elif found and name != path:
        for folder, uid in tx.rows("SELECT dir_path, uid FROM tasks WHERE project_id = ?", found[0][0]):
            move_task(tx, folder, task_folder(uid or folder, path, name), id_, uid)
        tx.do("UPDATE projects SET rev = (SELECT rev FROM projects WHERE id = ?) WHERE id = ?", found[0][0], id_)
        tx.do("DELETE FROM projects WHERE id = ?", found[0][0])
    tx.do("UPDATE projects SET uid = ? WHERE id = ?", name, id_)


def adopt_checkout(tx: Transaction, cwd: str, name_of: NameOf) -> None:
    """Create the project of this directory if it is a checkout of a project that only other machines had."""
    elsewhere = {name for (name,) in tx.rows("SELECT uid FROM projects WHERE uid = path AND path NOT LIKE '/%'")}
    if not elsewhere or not os.path.isabs(cwd) or projects.find_enclosing(tx, cwd):
        return
    for path in projects.path_and_parents(os.path.normpath(cwd)):
        if (name := name_of(path)) in elsewhere:
            name_project(tx, projects.upsert(tx, path, os.path.basename(path))["id"], path, name)
            return


def task_name(folder: str, project_path: str, project_name: str) -> str:
    """Return the name of a task's directory on all machines."""
    rest = folder.removeprefix(f"{project_path.rstrip('/')}/")
    return f"{project_name.rstrip('/')}/{rest}" if rest != folder else folder


def task_folder(name: str, project_path: str, project_name: str) -> str:
    """Return the local directory of a task of this name."""
    return task_name(name, project_name, project_path)


def move_task(tx: Transaction, folder: str, here: str, project_id: int, uid: str | None) -> None:
    """Move a task with its efforts and sessions to another directory."""
    if not tx.rows("SELECT 1 FROM tasks WHERE dir_path = ?", here):
        copied = "workspace, title, description, keywords, created_at, rev"
        values = f"SELECT ?, ?, {copied} FROM tasks WHERE dir_path = ?"
        tx.do(f"INSERT INTO tasks (dir_path, project_id, {copied}) {values}", here, project_id, folder)
    _renumber_target(tx, folder, here)
    for table in ("efforts", "sessions"):
        tx.do(f"UPDATE {table} SET task_id = ? WHERE task_id = ?", here, folder)
    tx.do("DELETE FROM tasks WHERE dir_path = ?", folder)
    tx.do("UPDATE tasks SET uid = ? WHERE dir_path = ?", uid, here)
    tx.do("DELETE FROM unshared WHERE kind = 'tasks' AND key = ?", folder)


def _renumber_target(tx: Transaction, folder: str, here: str) -> None:
    """Give new ordinals to efforts of the target whose ordinal an effort of the moved task has."""
    highest = "SELECT COALESCE(MAX(ordinal), 0) FROM efforts WHERE task_id IN (?, ?)"
    clashing = "SELECT id FROM efforts WHERE task_id = ? AND ordinal IN (SELECT ordinal FROM efforts WHERE task_id = ?)"
    for (id_,) in tx.rows(f"{clashing} ORDER BY ordinal", here, folder):
        ((last,),) = tx.rows(highest, here, folder)
        tx.do("UPDATE efforts SET ordinal = ? WHERE id = ?", last + 1, id_)
