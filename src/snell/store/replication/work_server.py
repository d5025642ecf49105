"""
The server's side of work that is shared: one change at a time, each with a number.

INVARIANT: whoever writes holds the lock until the commit, so numbers become visible in their order and nobody who has
seen one misses an earlier one.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from msgspec import Struct

from snell.model.meta_table import put_meta
from snell.model.protocols import Transaction
from snell.store.replication.work_tables import KINDS, Kind, Shared, blanks, read

LOCK = 0x5E12  # any number, as long as it is always the same one
AT_ONCE = 50  # rows in one statement
MOST = 2_000  # rows of one kind that are read at once


def team(tx: Transaction) -> str:
    """What this server is called; another one, or the same one emptied, is another team's."""
    found = _team(tx)
    if found is None:
        tx.rows("SELECT pg_advisory_xact_lock(?)", LOCK)
        found = _team(tx)
    if found is None:
        found = uuid4().hex
        put_meta(tx, "team", found)
    return found


def _team(tx: Transaction) -> str | None:
    found = tx.rows("SELECT value FROM meta WHERE name = 'team'")
    return str(found[0][0]) if found else None


def newest(tx: Transaction) -> dict[str, int]:
    """The number of the last change of each kind, in one question."""
    each = " UNION ALL ".join(f"SELECT '{kind.table}', COALESCE(MAX(rev), 0) FROM {kind.table}" for kind in KINDS)
    return dict(tx.rows(each))


def changes_after(tx: Transaction, kind: Kind, after: int) -> list[Shared]:
    """
    What changed after this number.

    Sessions name earlier sessions, which may have changed later; they come in the order in which they were made, all
    of them at once.
    """
    if kind.table == "sessions":
        found = read(tx, kind, "WHERE t.rev > ? ORDER BY t.id", after)
    else:
        found = read(tx, kind, "WHERE t.rev > ? ORDER BY t.rev LIMIT ?", after, MOST)
    return [row for _, row in found]


class Answer(Struct, frozen=True):
    """The new numbers of rows that were kept, by uid; and rows as they are here that have to be joined first."""

    revs: Mapping[str, int] = {}
    newer: tuple[Shared, ...] = ()


def accept(tx: Transaction, kind: Kind, rows: Sequence[Shared]) -> Answer:
    """
    Keep rows that were changed on top of what is here.

    INVARIANT: an ordinal of a task is given once. Of two efforts with the same one the second is not kept.
    """
    if not rows:
        return Answer()
    uids = [row["uid"] for row in rows]
    known = dict(tx.rows(f"SELECT uid, rev FROM {kind.table} WHERE uid IN ({blanks(uids)})", *uids))
    fitting = [row for row in rows if known.get(row["uid"], 0) == row["rev"]]
    other = [uid for uid in uids if uid in known and uid not in {row["uid"] for row in fitting}]
    newer = read(tx, kind, f"WHERE t.uid IN ({blanks(other)}) ORDER BY t.rev", *other) if other else []
    if kind.table == "efforts":
        fitting = _with_free_ordinals(tx, fitting)
    revs: dict[str, int] = {}
    # What a row names has to be there before the statement begins, so those that name each other are put twice.
    new = {row["uid"] for row in fitting}
    again = [row for row in fitting if any(row[name] in new for name in kind.names)]
    for rows_ in (fitting, again):
        for first in range(0, len(rows_), AT_ONCE):
            revs |= _put(tx, kind, rows_[first : first + AT_ONCE])
    return Answer(revs, tuple(row for _, row in newer))


def _with_free_ordinals(tx: Transaction, rows: list[Shared]) -> list[Shared]:
    tasks = list({row["task_id"] for row in rows})
    if not tasks:
        return []
    taken = "SELECT task_id, ordinal, uid FROM efforts WHERE task_id IN"
    owners = {(task, ordinal): uid for task, ordinal, uid in tx.rows(f"{taken} ({blanks(tasks)})", *tasks)}
    return [row for row in rows if owners.setdefault((row["task_id"], row["ordinal"]), row["uid"]) == row["uid"]]


def _put(tx: Transaction, kind: Kind, rows: Sequence[Shared]) -> dict[str, int]:
    # On the server a project's path and a task's directory are their names.
    place = {"projects": ("path",), "tasks": ("dir_path",)}.get(kind.table, ())
    columns = ("uid", *place, *kind.all_columns)
    named = {name: f"(SELECT {key} FROM {table} WHERE uid = ?)" for name, (table, key) in kind.names.items()}
    one = f"({', '.join(named.get(name, '?') for name in columns)}, nextval('work_rev'))"
    change = ", ".join(f"{name} = excluded.{name}" for name in (*kind.all_columns, "rev"))
    sql = (
        f"INSERT INTO {kind.table} ({', '.join(columns)}, rev) VALUES {', '.join([one] * len(rows))}"
        f" ON CONFLICT (uid) DO UPDATE SET {change} RETURNING uid, rev"
    )
    values: list[Any] = []
    for row in rows:
        values += [row["uid"], *(row["uid"] for _ in place), *(row[name] for name in kind.all_columns)]
    return dict(tx.rows(sql, *values))
