"""
The tables of work that machines share: their replicated columns, and the columns that refer to another row.

The local key of a row means nothing on another machine, so a reference is sent as that row's `uid`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from snell.model.protocols import Transaction

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

# INVARIANT: a table comes after those that its rows refer to.
KINDS = (
    Kind(table="projects", columns=("name", "created_at")),
    Kind(
        table="tasks",
        key="dir_path",
        columns=("workspace", "title", "description", "keywords", "created_at"),
        names={"project_id": ("projects", "id")},
        needs=("project_id",),
    ),
    Kind(
        table="efforts",
        columns=(
            *("skill", "mode", "ordinal", "lifecycle", "current_phase", "discovered_directives"),
            *("discovered_directories", "loaded_files", "metadata", "created_at", "finished_at", "host"),
        ),
        names={"task_id": _TASK},
        needs=("task_id",),
    ),
    Kind(
        table="sessions",
        columns=(
            *("client_session_id", "subagent_id", "pid", "heartbeat_counter", "heartbeat_interval", "last_heartbeat"),
            *("context_usage", "loaded_files", "preloaded_files", "discovered_directives", "discovered_directories"),
            *("dehydration_payload", "rehydrated_at", "transcript_path", "cost", "created_at", "ended_at"),
            *("end_reason", "host"),
        ),
        names={
            "task_id": _TASK,
            "effort_id": _EFFORT,
            "prev_session_id": _SESSION,
            "parent_session_id": _SESSION,
        },
        needs=("task_id", "effort_id"),
    ),
    Kind(
        table="phase_history",
        columns=("phase_label", "proof", "created_at"),
        names={"effort_id": _EFFORT},
        needs=("effort_id",),
    ),
    Kind(
        table="messages",
        columns=("role", "content", "tool_name", "timestamp"),
        names={"session_id": _SESSION},
        needs=("session_id",),
    ),
)


def read_rows(tx: Transaction, kind: Kind, rest: str, *values: Any) -> list[tuple[Any, SharedRow]]:
    """Return rows as they are sent, each with its local key."""
    named = [f"(SELECT o.uid FROM {table} o WHERE o.{key} = t.{name})" for name, (table, key) in kind.names.items()]
    wanted = ", ".join([f"t.{kind.key}", "t.uid", "t.rev", *(f"t.{name}" for name in kind.columns), *named])
    names = ("uid", "rev", *kind.all_columns)
    found = tx.rows(f"SELECT {wanted} FROM {kind.table} t {rest}", *values)
    return [(row[0], dict(zip(names, row[1:], strict=True))) for row in found]


def placeholders(values: Sequence[Any]) -> str:
    return ", ".join("?" for _ in values)
