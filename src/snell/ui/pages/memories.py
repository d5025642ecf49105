"""Memories: the newest or those that answer a question, their map, and one of them, which a person may delete."""

from typing import Any

from snell.cli.call_operation import call_operation
from snell.memory import rows
from snell.memory.recall import Question, recall
from snell.memory.shortlist import shortlist_of
from snell.memory.types import ANY, Memory, NotRememberedError
from snell.model.protocols import Transaction
from snell.ui.numbers import number_in
from snell.ui.site import MissingError, Query, Site

SHOWN = 30
LONGEST_QUESTION = 1_000


def show(site: Site, query: Query) -> dict[str, Any]:
    text, project = query.get("text", "").strip()[:LONGEST_QUESTION], query.get("project", "").strip()
    before = number_in(query, "before")

    def read(tx: Transaction) -> dict[str, Any]:
        projects = [str(name) for (name,) in tx.rows(_PROJECTS)]
        if not text:
            return {"projects": projects, **_newest(tx, project, before)}
        question = Question(text=text, project=project or ANY, limit=SHOWN)
        found = recall(tx, question, shortlist_of(site.store))  # type: ignore[arg-type] # it only reads
        return {"projects": projects, "memories": [each.memory for each in found], "older": 0}

    return {**site.store.run(read), "text": text, "project": project, "before": before}


def show_one(site: Site, query: Query) -> dict[str, Any]:
    memory_id = query.get("id", "")
    is_confirmed = bool(query["is_sent"]) and query.get("confirm") == "yes" and site.is_person
    try:
        memory = site.store.run(lambda tx: rows.get(tx, memory_id))
    except NotRememberedError as error:
        raise MissingError(error.message, advice="it may have been forgotten; the page Memories lists them") from None
    if is_confirmed:
        call_operation("memory.forget", {"memory_id": memory_id})
    return {"memory": memory, "is_forgotten": is_confirmed, "is_person": site.is_person, "is_sent": query["is_sent"]}


def draw_map(site: Site, query: Query) -> dict[str, Any]:
    """Return the map of the memories as a picture."""
    project = query.get("project", "").strip() or ANY
    return {"body": call_operation("memory.visualize", {"format": "svg", "project": project})["drawing"]}


# The names of all projects, by skipping through the index: a store of many memories has few projects.
_PROJECTS = (
    "WITH RECURSIVE known(name) AS (SELECT MIN(project) FROM memories UNION ALL"
    " SELECT (SELECT MIN(project) FROM memories WHERE project > name) FROM known WHERE name IS NOT NULL)"
    " SELECT name FROM known WHERE name <> '' LIMIT 200"
)


def _newest(tx: Transaction, project: str, before: int) -> dict[str, Any]:
    """Return a page of memories by their number, newest first."""
    wanted = {"seq < ?": before, "project = ?": project}
    given = {clause: value for clause, value in wanted.items() if value}
    where = f"WHERE {' AND '.join(given)}" if given else ""
    sql = f"SELECT seq, {rows.COLUMNS} FROM memories {where} ORDER BY seq DESC LIMIT ?"
    found = tx.rows(sql, *given.values(), SHOWN + 1)
    memories: list[Memory] = [rows.from_row(row[1:]) for row in found[:SHOWN]]
    return {"memories": memories, "older": int(found[SHOWN - 1][0]) if len(found) > SHOWN else 0}
