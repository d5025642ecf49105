"""Read and write the parsed skills of a project: phases, templates, directives."""

from typing import Any

from snell.model.protocols import Transaction
from snell.work.rows import Record, WorkTable, camel, now_ms
from snell.work.rows import upsert as upsert_row
from snell.work.skill_files import LoadedSkill, ReadSkill

_DECLARED = "phases modes templates cmd_dependencies next_skills directives version description"
_SKILLS = WorkTable("skills", f"id project_id name {_DECLARED} updated_at", "skill")


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
    values = (phases, modes, templates, cmd_dependencies, next_skills, directives, version, description)
    given = {**dict(zip(_DECLARED.split(), values, strict=True)), "updated_at": now_ms()}
    upsert_row(tx, "skills", {"project_id": project_id, "name": name}, given, {}, keeps=False)
    return get(tx, project_id, name)


def load(
    tx: Transaction, project_id: int, name: str, cwd: str, read_skill: ReadSkill | None
) -> tuple[Record | None, str | None]:
    """Return a skill as its file declares it now, else as a program stored it; or why there is none."""
    found = read_skill(name, cwd) if read_skill else LoadedSkill()
    if config := found.config:
        declared = {name: config[camel(name)] for name in _DECLARED.split()}
        return {**upsert(tx, project_id, name, **declared), "path": config["path"]}, None
    stored = None if found.is_untrusted else find(tx, project_id, name)
    return stored, None if stored else found.problem or None


def get(tx: Transaction, project_id: int, name: str) -> Record:
    return _SKILLS.require(find(tx, project_id, name), name)


def find(tx: Transaction, project_id: int, name: str) -> Record | None:
    return _SKILLS.first(tx, "WHERE project_id = ? AND name = ?", project_id, name)


def list_(tx: Transaction, project_id: int) -> list[Record]:
    return _SKILLS.matching(tx, "name", project_id=project_id)


def delete(tx: Transaction, project_id: int, name: str) -> bool:
    return tx.do("DELETE FROM skills WHERE project_id = ? AND name = ?", project_id, name) == 1


def delete_all(tx: Transaction, project_id: int) -> int:
    """Delete all parsed skills of a project; their files are parsed again when needed."""
    return tx.do("DELETE FROM skills WHERE project_id = ?", project_id)
