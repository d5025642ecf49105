"""Follow a project whose directory was moved: update its path and those of its tasks."""

import os

from snell.model.protocols import Transaction
from snell.work import projects
from snell.work.errors import WorkError
from snell.work.projects import PROJECTS
from snell.work.rows import Record
from snell.work.shared_names import move_task, task_name

MOST_MISSING = 200  # projects without a directory that are compared


def follow_move(tx: Transaction, cwd: str) -> None:
    """Update a moved project if this directory has one of its tasks at the same relative path."""
    if not os.path.isabs(cwd) or "\0" in cwd or projects.find_enclosing(tx, cwd):
        return
    places = projects.path_and_parents(os.path.normpath(cwd))[:-1]
    for project in [each for each in PROJECTS.read(tx, "ORDER BY id DESC") if _is_gone(each)][:MOST_MISSING]:
        inside = [rest for folder in _folders(tx, project) if (rest := _relative(folder, project["path"]))]
        place = next((each for each in places if any(os.path.isdir(os.path.join(each, rest)) for rest in inside)), None)
        if place:
            _move(tx, project, place)
            return


def move_to(tx: Transaction, task: Record, cwd: str) -> None:
    """Move a project without a directory to where the user resumes one of its efforts."""
    project = PROJECTS.get(tx, task["projectId"])
    if _is_gone(project) and os.path.isabs(cwd) and not projects.find_enclosing(tx, cwd):
        places = projects.path_and_parents(os.path.normpath(cwd))
        _move(tx, project, next((each for each in places if os.path.exists(os.path.join(each, ".git"))), places[0]))


def require_folder(tx: Transaction, effort: Record, task: Record) -> None:
    """Raise WorkError if the project's directory is missing, or the task's directory is a link out of it."""
    project = PROJECTS.get(tx, task["projectId"])
    if _leads_out(task["dirPath"], project["path"]):
        message = f"`{task['dirPath']}` is a link out of the project"
        raise WorkError("COMMAND_ERROR", message, advice="name the directory itself as the task, or remove the link")
    if _is_gone(project) and _relative(task["dirPath"], project["path"]):
        raise WorkError(
            "COMMAND_ERROR",
            f"the project of effort {effort['id']}, `{project['path']}`, does not exist any more",
            advice=f"if it was moved, `snell effort resume {effort['id']}` in its new directory moves its efforts",
        )


def _is_gone(project: Record) -> bool:
    """Whether the directory is missing. A project of another machine has a name for a path and is not missing."""
    return os.path.isabs(project["path"]) and not os.path.isdir(project["path"])


def _folders(tx: Transaction, project: Record) -> list[str]:
    return [folder for (folder,) in tx.rows("SELECT dir_path FROM tasks WHERE project_id = ?", project["id"])]


def _relative(folder: str, path: str) -> str:
    return folder.removeprefix(f"{path}/") if folder.startswith(f"{path}/") else ""


def _leads_out(folder: str, path: str) -> bool:
    if not _relative(folder, path):
        return False  # a task outside of its project, on purpose
    real = os.path.realpath(path)
    return os.path.commonpath((real, os.path.realpath(folder))) != real


def _move(tx: Transaction, project: Record, place: str) -> None:
    for folder in _folders(tx, project):
        here = task_name(folder, project["path"], place)
        if here != folder:
            ((uid,),) = tx.rows("SELECT uid FROM tasks WHERE dir_path = ?", folder)
            move_task(tx, folder, here, project["id"], uid)
    tx.do("UPDATE projects SET path = ? WHERE id = ?", place, project["id"])
