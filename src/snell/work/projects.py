"""Projects: directories in which work is kept track of."""

import os

from snell.model.protocols import Transaction
from snell.work.errors import invalid
from snell.work.rows import Record, now_ms, select

COLUMNS = "id path name created_at"


def upsert(tx: Transaction, path: str, name: str | None = None) -> Record:
    """Keep a project; the same path again changes its name at most."""
    path = whole("path", path)
    tx.do(
        "INSERT INTO projects (path, name, created_at) VALUES (?, ?, ?)"
        " ON CONFLICT (path) DO UPDATE SET name = COALESCE(excluded.name, projects.name)",
        path,
        name,
        now_ms(),
    )
    return select(tx, "projects", COLUMNS, "WHERE path = ?", path)[0]


def find(tx: Transaction, path: str) -> Record | None:
    """The project of exactly this path."""
    return next(iter(select(tx, "projects", COLUMNS, "WHERE path = ?", os.path.normpath(path))), None)


def find_around(tx: Transaction, cwd: str) -> Record | None:
    """The project that this directory is in: itself, or the nearest one above it."""
    if not os.path.isabs(cwd) or "\0" in cwd:
        return None
    places = above(os.path.normpath(cwd))
    blanks = ", ".join("?" for _ in places)
    found = select(tx, "projects", COLUMNS, f"WHERE path IN ({blanks}) ORDER BY LENGTH(path) DESC LIMIT 1", *places)
    return found[0] if found else None


def whole(name: str, path: str) -> str:
    """A path that means the same wherever it is read."""
    if not os.path.isabs(path) or "\0" in path:
        raise invalid(f"{name}: must be an absolute path")
    return os.path.normpath(path)


def above(path: str) -> list[str]:
    """The path and everything above it."""
    places = [path]
    while (parent := os.path.dirname(places[-1])) != places[-1]:
        places.append(parent)
    return places
