"""Parts of SQL that several modules need: the condition for a project, and lists of values."""

from collections.abc import Iterator, Sequence
from typing import Any

from snell.memory.types import ANY
from snell.model.protocols import Transaction
from snell.model.tables import blanks

AT_ONCE = 500  # values in one statement


def scope(project: str, namespace: str = "", table: str = "") -> tuple[str, list[Any]]:
    """Return the WHERE clause for a project (`*`: all of them) and a namespace (empty: all of them), and its values."""
    places = (("project", project, ANY), ("namespace", namespace, ""))
    wanted = {f"{table}{column} = ?": value for column, value, everything in places if value != everything}
    return " AND ".join(("1 = 1", *wanted)), list(wanted.values())


def rows_for(tx: Transaction, sql: str, values: Sequence[Any], *first: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query for many values, in parts; `{}` in it stands for their question marks."""
    for part in parts(values):
        yield from tx.rows(sql.format(blanks(part)), *first, *part)


def parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    unique = list(dict.fromkeys(values))
    return (unique[start : start + AT_ONCE] for start in range(0, len(unique), AT_ONCE))
