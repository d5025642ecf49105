"""A project whose directory was moved: where it is now, its tasks and efforts go with it."""

import os

from snell.model.protocols import Transaction
from snell.work import projects
from snell.work.errors import WorkError
from snell.work.rows import Record, select
from snell.work.shared_names import move_task, task_name

MOST_LOOKED_AT = 200  # projects that are gone


def follow(tx: Transaction, cwd: str) -> None:
    """Where this directory is a moved project, by a task that lies in it as it did before, the project is here now."""
    if not os.path.isabs(cwd) or "\0" in cwd or projects.find_around(tx, cwd):
        return
    places = projects.above(os.path.normpath(cwd))[:-1]
    for project in _gone(tx):
        inside = [rest for folder in _folders(tx, project) if (rest := _rest(folder, project["path"]))]
        place = next((each for each in places if any(os.path.isdir(os.path.join(each, rest)) for rest in inside)), None)
        if place:
            _move(tx, project, place)
            return


def take_along(tx: Transaction, task: Record, cwd: str) -> None:
    """Somebody goes on here with an effort whose project is not where it was: it is meant to be here."""
    project = _of(tx, task)
    if _is_gone(project) and os.path.isabs(cwd) and not projects.find_around(tx, cwd):
        places = projects.above(os.path.normpath(cwd))
        _move(tx, project, next((each for each in places if os.path.exists(os.path.join(each, ".git"))), places[0]))


def require_here(tx: Transaction, effort: Record, task: Record) -> None:
    """Nothing is written to where a project was, nor through a link to somewhere else."""
    project = _of(tx, task)
    if _leads_out(task["dirPath"], project["path"]):
        message = f"`{task['dirPath']}` is a link out of the project"
        raise WorkError("COMMAND_ERROR", message, advice="name the directory itself as the task, or remove the link")
    if _is_gone(project) and _rest(task["dirPath"], project["path"]):
        raise WorkError(
            "COMMAND_ERROR",
            f"the project of effort {effort['id']}, `{project['path']}`, is not there any more",
            advice=f"if it was moved, `snell effort resume {effort['id']}` where it is now takes its efforts along",
        )


def _gone(tx: Transaction) -> list[Record]:
    known = select(tx, "projects", projects.COLUMNS, "ORDER BY id DESC")
    return [each for each in known if _is_gone(each)][:MOST_LOOKED_AT]


def _is_gone(project: Record) -> bool:
    """One of another machine has a name in the place of its path, and was never here."""
    return os.path.isabs(project["path"]) and not os.path.isdir(project["path"])


def _of(tx: Transaction, task: Record) -> Record:
    return select(tx, "projects", projects.COLUMNS, "WHERE id = ?", task["projectId"])[0]


def _folders(tx: Transaction, project: Record) -> list[str]:
    return [folder for (folder,) in tx.rows("SELECT dir_path FROM tasks WHERE project_id = ?", project["id"])]


def _rest(folder: str, path: str) -> str:
    return folder.removeprefix(f"{path}/") if folder.startswith(f"{path}/") else ""


def _leads_out(folder: str, path: str) -> bool:
    if not _rest(folder, path):
        return False  # a task that was put elsewhere on purpose
    real = os.path.realpath(path)
    return os.path.commonpath((real, os.path.realpath(folder))) != real


def _move(tx: Transaction, project: Record, place: str) -> None:
    for folder in _folders(tx, project):
        here = task_name(folder, project["path"], place)
        if here != folder:
            ((uid,),) = tx.rows("SELECT uid FROM tasks WHERE dir_path = ?", folder)
            move_task(tx, folder, here, project["id"], uid)
    tx.do("UPDATE projects SET path = ? WHERE id = ?", place, project["id"])
