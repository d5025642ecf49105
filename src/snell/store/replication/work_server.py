"""
Read and write the shared rows of work on the server; each change has a revision number.

INVARIANT: a writer holds the lock until its commit, so revisions become visible in order, and a reader that has seen
one has not missed an earlier one.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from msgspec import Struct

from snell.model.protocols import Transaction
from snell.model.tables import blanks, get_meta, put_meta
from snell.store.replication.work_tables import KINDS, Kind, SharedRow, read_rows

LOCK = 0x5E12  # any number that is the same in every version
AT_ONCE = 50  # rows in one statement
MOST = 2_000  # rows of one table that are read at once


def team_id(tx: Transaction) -> str:
    """Return the id of this server's team; another server, or the same one emptied, has another id."""
    if not get_meta(tx, "team"):
        tx.rows("SELECT pg_advisory_xact_lock(?)", LOCK)
        put_meta(tx, "team", get_meta(tx, "team") or uuid4().hex)
    return get_meta(tx, "team")


def newest_revisions(tx: Transaction) -> dict[str, int]:
    """Return the last revision of each table, with one query."""
    each = " UNION ALL ".join(f"SELECT '{kind.table}', COALESCE(MAX(rev), 0) FROM {kind.table}" for kind in KINDS)
    return dict(tx.rows(each))


def changes_after(tx: Transaction, kind: Kind, after: int) -> list[SharedRow]:
    """
    Return the rows that changed after a revision.

    A session refers to earlier sessions, which may have changed later; so all sessions come at once, in the order in
    which they were created.
    """
    if kind.table == "sessions":
        found = read_rows(tx, kind, "WHERE t.rev > ? ORDER BY t.id", after)
    else:
        found = read_rows(tx, kind, "WHERE t.rev > ? ORDER BY t.rev LIMIT ?", after, MOST)
    return [row for _, row in found]


class AcceptResult(Struct, frozen=True):
    """The new revisions of stored rows, by uid; and the server's rows that the sender must merge first."""

    revs: Mapping[str, int] = {}
    newer: tuple[SharedRow, ...] = ()


def accept(tx: Transaction, kind: Kind, rows: Sequence[SharedRow]) -> AcceptResult:
    """
    Store rows whose sender had seen the server's latest revision of them.

    INVARIANT: an ordinal of a task is given once. Of two efforts with the same one the second is not stored.
    """
    if not rows:
        return AcceptResult()
    uids = [row["uid"] for row in rows]
    known = dict(tx.rows(f"SELECT uid, rev FROM {kind.table} WHERE uid IN ({blanks(uids)})", *uids))
    fitting = [row for row in rows if known.get(row["uid"], 0) == row["rev"]]
    other = [uid for uid in uids if uid in known and uid not in {row["uid"] for row in fitting}]
    newer = read_rows(tx, kind, f"WHERE t.uid IN ({blanks(other)}) ORDER BY t.rev", *other) if other else []
    if kind.table == "efforts":
        fitting = _with_free_ordinals(tx, fitting)
    revs: dict[str, int] = {}
    # A row can only refer to rows from before the statement, so rows that refer to each other are written twice.
    new = {row["uid"] for row in fitting}
    again = [row for row in fitting if any(row[name] in new for name in kind.names)]
    for rows_ in (fitting, again):
        for first in range(0, len(rows_), AT_ONCE):
            revs |= _put(tx, kind, rows_[first : first + AT_ONCE])
    return AcceptResult(revs, tuple(row for _, row in newer))


def _with_free_ordinals(tx: Transaction, rows: list[SharedRow]) -> list[SharedRow]:
    tasks = list({row["task_id"] for row in rows})
    if not tasks:
        return []
    taken = "SELECT task_id, ordinal, uid FROM efforts WHERE task_id IN"
    owners = {(task, ordinal): uid for task, ordinal, uid in tx.rows(f"{taken} ({blanks(tasks)})", *tasks)}
    return [row for row in rows if owners.setdefault((row["task_id"], row["ordinal"]), row["uid"]) == row["uid"]]


def _put(tx: Transaction, kind: Kind, rows: Sequence[SharedRow]) -> dict[str, int]:
    # On the server a project's path and a task's directory are their uids.
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
