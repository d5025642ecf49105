"""
This machine's side of work that is shared: what changed here, and what others changed.

Triggers write down which rows changed; nothing else is done while somebody waits for an answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.store.replication.merge_rows import merge_rows
from snell.store.replication.work_tables import KINDS, Kind, Shared, blanks, read
from snell.work import artefacts, efforts
from snell.work.rows import json_of
from snell.work.shared_names import task_folder

MOST = 200  # rows that travel at once


class Waiting(Struct, frozen=True):
    """Rows of one kind that the server does not have: each with its key here, and how often it had changed by now."""

    kind: Kind
    rows: tuple[tuple[Any, int, Shared], ...]


def is_shared(tx: Transaction) -> bool:
    return tx.dialect == "sqlite" and bool(tx.rows("SELECT 1 FROM sharing"))


def begin(tx: Transaction, team: str) -> None:
    """From now on changes are kept for this team's server; one that is new to us gets everything there is."""
    if not tx.rows("SELECT 1 FROM sharing WHERE team = ?", team):
        begin_anew(tx, team)


def begin_anew(tx: Transaction, team: str) -> None:
    tx.do("DELETE FROM sharing")
    tx.do("DELETE FROM unshared")
    tx.do("INSERT INTO sharing (id, team) VALUES (1, ?)", team)
    for kind in KINDS:
        tx.do(f"UPDATE {kind.table} SET rev = 0")
        tx.do(f"INSERT INTO unshared (kind, key) SELECT ?, {kind.key} FROM {kind.table}", kind.table)


def cursors(tx: Transaction) -> dict[str, int]:
    """How far the server's rows of each kind are known here."""
    found = tx.rows("SELECT cursors FROM sharing")
    return msgspec.json.decode(found[0][0], type=dict[str, int]) if found else {}


def put_cursor(tx: Transaction, kind: Kind, rev: int) -> None:
    tx.do("UPDATE sharing SET cursors = ?", json_of({**cursors(tx), kind.table: rev}))


def anything_waits(tx: Transaction) -> bool:
    return bool(tx.rows("SELECT 1 FROM unshared LIMIT 1"))


def waiting(tx: Transaction, host: str) -> list[Waiting]:
    """The next rows for the server, those that others name first."""
    found: list[Waiting] = []
    left = MOST
    for kind in KINDS:
        times = dict(tx.rows("SELECT key, times FROM unshared WHERE kind = ? ORDER BY key LIMIT ?", kind.table, left))
        rows = read(tx, kind, f"WHERE t.{kind.key} IN ({blanks(list(times))})", *times) if times else []
        for gone in set(times) - {key for key, _ in rows}:
            tx.do("DELETE FROM unshared WHERE kind = ? AND key = ?", kind.table, gone)
        if rows:
            told = sorted(((key, times[key], _outward(row, host)) for key, row in rows), key=lambda each: each[0])
            found.append(Waiting(kind, tuple(told)))
        left -= len(times)
        if left <= 0:
            break
    return found


def mark_accepted(tx: Transaction, told: Waiting, revs: Mapping[str, int]) -> None:
    """The server has these now. What changed again meanwhile still waits, on top of what was told."""
    for key, times, row in told.rows:
        if row["uid"] not in revs:
            continue
        name = told.kind.table
        tx.do(f"UPDATE {name} SET rev = ? WHERE {told.kind.key} = ?", revs[row["uid"]], key)
        tx.do("DELETE FROM unshared WHERE kind = ? AND key = ? AND times = ?", name, key, times)
        tx.do("UPDATE unshared SET base = ? WHERE kind = ? AND key = ?", json_of(row), name, key)


def give_up(tx: Transaction, told: Waiting) -> None:
    """The server will not have these as they are; when they change, they are told again."""
    for key, *_ in told.rows:
        tx.do("DELETE FROM unshared WHERE kind = ? AND key = ?", told.kind.table, key)


def look_alive(tx: Transaction, since: int) -> None:
    """Sessions that count calls are told of now and then, so that others can tell them from dead ones."""
    tx.do(
        "INSERT INTO unshared (kind, key) SELECT 'sessions', id FROM sessions"
        " WHERE host = '' AND ended_at IS NULL AND last_heartbeat > ? ON CONFLICT DO NOTHING",
        since,
    )


def store_remote_changes(tx: Transaction, kind: Kind, heard: Sequence[Shared], host: str) -> None:
    """What others changed, written here. What changed here as well is joined with it."""
    tx.do("UPDATE sharing SET is_applying = 1")
    for row in heard:
        _keep_one(tx, kind, _inward(row, host))
    tx.do("UPDATE sharing SET is_applying = 0")


def _keep_one(tx: Transaction, kind: Kind, row: Shared) -> None:
    found = read(tx, kind, "WHERE t.uid = ?", row["uid"])
    if found and found[0][1]["rev"] >= row["rev"]:
        return  # this is how we told it
    local = _with_names_here(tx, kind, row)
    if any(local[name] is None for name in kind.needs):
        return
    if not found:
        _insert(tx, kind, row["uid"], local)
        return
    key, known = found[0]
    base = tx.rows("SELECT base FROM unshared WHERE kind = ? AND key = ?", kind.table, key)
    if base:
        row = merge_rows(known, row, msgspec.json.decode(base[0][0]), is_ours=known.get("host") == "")
        tx.do("UPDATE unshared SET base = ? WHERE kind = ? AND key = ?", json_of(row), kind.table, key)
        local = _with_names_here(tx, kind, row)
    if kind.table == "tasks":
        local.pop("project_id")  # a task stays where it is on this machine
    elif kind.table == "efforts":
        _make_room(tx, local["task_id"], local["ordinal"], key)
    names = ", ".join(f"{name} = ?" for name in local)
    tx.do(f"UPDATE {kind.table} SET {names} WHERE {kind.key} = ?", *local.values(), key)


def _insert(tx: Transaction, kind: Kind, uid: str, local: Shared) -> None:
    place: dict[str, Any] = {}
    if kind.table == "projects":
        place = {"path": _free(tx, "projects", "path", uid)}
    elif kind.table == "tasks":
        ((path, name),) = tx.rows("SELECT path, uid FROM projects WHERE id = ?", local["project_id"])
        place = {"dir_path": _free(tx, "tasks", "dir_path", task_folder(uid, path, name))}
    elif kind.table == "efforts":
        _make_room(tx, local["task_id"], local["ordinal"])
    given = {"uid": uid, **place, **local}
    tx.do(f"INSERT INTO {kind.table} ({', '.join(given)}) VALUES ({blanks(list(given))})", *given.values())


def _free(tx: Transaction, table: str, column: str, path: str) -> str:
    """A path that something else has here, under another name, is not the same place."""
    return f"elsewhere:{path}" if tx.rows(f"SELECT 1 FROM {table} WHERE {column} = ?", path) else path


def _make_room(tx: Transaction, task_id: str, ordinal: int, for_id: int = 0) -> None:
    """The server has given this ordinal to somebody; an effort of ours that it does not know gets the next one."""
    taken = "SELECT id FROM efforts WHERE task_id = ? AND ordinal = ? AND id <> ?"
    for (id_,) in tx.rows(taken, task_id, ordinal, for_id):
        ((last,),) = tx.rows("SELECT MAX(ordinal) FROM efforts WHERE task_id = ?", task_id)
        effort = efforts.get(tx, id_)
        tx.do("UPDATE efforts SET ordinal = ? WHERE id = ?", last + 1, id_)
        artefacts.renumber(effort, last + 1)


def _with_names_here(tx: Transaction, kind: Kind, row: Shared) -> Shared:
    """The row as it stands in the table: what it names by its key here."""
    local = {name: row[name] for name in ("rev", *kind.columns)}
    for name, (table, key) in kind.names.items():
        found = tx.rows(f"SELECT {key} FROM {table} WHERE uid = ?", row[name]) if row[name] is not None else []
        local[name] = found[0][0] if found else None
    return local


def _outward(row: Shared, host: str) -> Shared:
    told = {name: value.replace("\0", "") if isinstance(value, str) else value for name, value in row.items()}
    return {**told, "host": told["host"] or host} if "host" in told else told


def _inward(row: Shared, host: str) -> Shared:
    return {**row, "host": "" if row["host"] == host else row["host"]} if "host" in row else row
