"""
The tables of work that machines share: their replicated columns, and the columns that refer to another row.

The local key of a row means nothing on another machine, so a reference is sent as that row's `uid`.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from snell.model.protocols import Transaction
from snell.work.efforts import EFFORTS
from snell.work.messages import MESSAGES
from snell.work.phases import HISTORY
from snell.work.projects import PROJECTS
from snell.work.rows import WorkTable
from snell.work.sessions import SESSIONS

SharedRow = dict[str, Any]  # a row as it is sent: uid, rev, its columns, and uids of the rows that it refers to


class Kind(Struct, frozen=True, kw_only=True):
    """One table. `key` is its local key; `needs` are the references without which a row is not stored."""

    table: str
    key: str = "id"
    columns: tuple[str, ...]
    names: Mapping[str, tuple[str, str]] = {}  # column -> (table, key) of the row that it refers to
    needs: tuple[str, ...] = ()

    @property
    def all_columns(self) -> tuple[str, ...]:
        return (*self.columns, *self.names)


_TASK, _EFFORT, _SESSION = ("tasks", "dir_path"), ("efforts", "id"), ("sessions", "id")


def _kind(table: WorkTable, names: Mapping[str, tuple[str, str]], needs: tuple[str, ...], local: str = "") -> Kind:
    """Return the kind of a table whose columns are all shared, but for its key and the `local` ones."""
    left_out = {"id", *names, *local.split()}
    columns = tuple(name for name in table.columns.split() if name not in left_out)
    return Kind(table=table.name, columns=columns, names=names, needs=needs)


# INVARIANT: a table comes after those that its rows refer to.
KINDS = (
    _kind(PROJECTS, {}, (), local="path"),
    Kind(
        table="tasks",
        key="dir_path",
        columns=("workspace", "title", "description", "keywords", "created_at"),
        names={"project_id": ("projects", "id")},
        needs=("project_id",),
    ),
    _kind(EFFORTS, {"task_id": _TASK}, ("task_id",)),
    _kind(
        SESSIONS,
        {"task_id": _TASK, "effort_id": _EFFORT, "prev_session_id": _SESSION, "parent_session_id": _SESSION},
        ("task_id", "effort_id"),
        local="pending_injections told transcript_offset interaction",
    ),
    _kind(HISTORY, {"effort_id": _EFFORT}, ("effort_id",)),
    _kind(MESSAGES, {"session_id": _SESSION}, ("session_id",)),
)


def read_rows(tx: Transaction, kind: Kind, rest: str, *values: Any) -> list[tuple[Any, SharedRow]]:
    """Return rows as they are sent, each with its local key."""
    named = [f"(SELECT o.uid FROM {table} o WHERE o.{key} = t.{name})" for name, (table, key) in kind.names.items()]
    wanted = ", ".join([f"t.{kind.key}", "t.uid", "t.rev", *(f"t.{name}" for name in kind.columns), *named])
    names = ("uid", "rev", *kind.all_columns)
    found = tx.rows(f"SELECT {wanted} FROM {kind.table} t {rest}", *values)
    return [(row[0], dict(zip(names, row[1:], strict=True))) for row in found]
