"""Read and write projects: directories whose work is recorded."""

import os

from snell.model.protocols import Transaction
from snell.model.tables import blanks
from snell.work.errors import invalid
from snell.work.rows import Record, WorkTable, now_ms
from snell.work.rows import upsert as upsert_row

PROJECTS = WorkTable("projects", "id path name created_at", "project")


def upsert(tx: Transaction, path: str, name: str | None = None) -> Record:
    """Insert a project, or update the name of an existing one."""
    path = absolute_path("path", path)
    upsert_row(tx, "projects", {"path": path}, {"name": name}, {"created_at": now_ms()})
    return PROJECTS.read(tx, "WHERE path = ?", path)[0]


def find(tx: Transaction, path: str) -> Record | None:
    """Return the project with this path."""
    return PROJECTS.first(tx, "WHERE path = ?", os.path.normpath(path))


def find_enclosing(tx: Transaction, cwd: str) -> Record | None:
    """Return the project of this directory or of its nearest parent."""
    if not os.path.isabs(cwd) or "\0" in cwd:
        return None
    places = path_and_parents(os.path.normpath(cwd))
    return PROJECTS.first(tx, f"WHERE path IN ({blanks(places)}) ORDER BY LENGTH(path) DESC LIMIT 1", *places)


def absolute_path(name: str, path: str) -> str:
    """Return a normalised absolute path. Raises VALIDATION_ERROR for a relative one."""
    if not os.path.isabs(path) or "\0" in path:
        raise invalid(f"{name}: must be an absolute path")
    return os.path.normpath(path)


def path_and_parents(path: str) -> list[str]:
    """Return the path and all its parents."""
    places = [path]
    while (parent := os.path.dirname(places[-1])) != places[-1]:
        places.append(parent)
    return places
