"""Read and write the parsed skills of a project: phases, templates, directives."""

from typing import Any

from snell.model.protocols import Transaction
from snell.work.errors import not_found
from snell.work.rows import Record, json_of, now_ms, select

COLUMNS = (
    "id project_id name phases modes templates cmd_dependencies next_skills directives version description updated_at"
)


def upsert(
    tx: Transaction,
    project_id: int,
    name: str,
    phases: Any = None,
    modes: Any = None,
    templates: Any = None,
    cmd_dependencies: Any = None,
    next_skills: Any = None,
    directives: Any = None,
    version: str | None = None,
    description: str | None = None,
) -> Record:
    given = {
        "phases": json_of(phases),
        "modes": json_of(modes),
        "templates": json_of(templates),
        "cmd_dependencies": json_of(cmd_dependencies),
        "next_skills": json_of(next_skills),
        "directives": json_of(directives),
        "version": version,
        "description": description,
    }
    blanks = ", ".join("?" for _ in range(len(given) + 3))
    change = ", ".join(f"{column} = excluded.{column}" for column in (*given, "updated_at"))
    tx.do(
        f"INSERT INTO skills (project_id, name, {', '.join(given)}, updated_at) VALUES ({blanks})"
        f" ON CONFLICT (project_id, name) DO UPDATE SET {change}",
        *(project_id, name, *given.values(), now_ms()),
    )
    return get(tx, project_id, name)


def get(tx: Transaction, project_id: int, name: str) -> Record:
    found = find(tx, project_id, name)
    if found is None:
        raise not_found("skill", name)
    return found


def find(tx: Transaction, project_id: int, name: str) -> Record | None:
    found = select(tx, "skills", COLUMNS, "WHERE project_id = ? AND name = ?", project_id, name)
    return found[0] if found else None


def list_(tx: Transaction, project_id: int) -> list[Record]:
    return select(tx, "skills", COLUMNS, "WHERE project_id = ? ORDER BY name", project_id)


def delete(tx: Transaction, project_id: int, name: str) -> bool:
    return tx.do("DELETE FROM skills WHERE project_id = ? AND name = ?", project_id, name) == 1


def delete_all(tx: Transaction, project_id: int) -> int:
    """Delete all parsed skills of a project; their files are parsed again when needed."""
    return tx.do("DELETE FROM skills WHERE project_id = ?", project_id)
