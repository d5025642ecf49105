"""
Read and write the shared rows of work in the local database: local changes that wait, and changes of other machines.

Triggers record which rows changed; nothing else happens while a client waits for a reply.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.model.tables import assignments, blanks
from snell.store.replication.work_tables import KINDS, Kind, SharedRow, read_rows
from snell.work import artefacts, efforts
from snell.work.rows import JSON_COLUMNS, json_of, read, union
from snell.work.shared_names import task_folder

MOST = 200  # rows that are sent at once
FINAL = ("finished_at", "rehydrated_at", "dehydration_payload")
END = ("ended_at", "end_reason")
COUNTED = ("heartbeat_counter", "last_heartbeat", "context_usage")  # counted by the machine that runs the session


class WaitingRows(Struct, frozen=True):
    """Rows of one table that the server does not have: each with its local key and its number of changes."""

    kind: Kind
    rows: tuple[tuple[Any, int, SharedRow], ...]


def start_sharing(tx: Transaction, team: str) -> None:
    """Record changes for this team's server from now on; a new server gets all rows."""
    if not tx.rows("SELECT 1 FROM sharing WHERE team = ?", team):
        restart_sharing(tx, team)


def restart_sharing(tx: Transaction, team: str) -> None:
    tx.do("DELETE FROM sharing")
    tx.do("DELETE FROM unshared")
    tx.do("INSERT INTO sharing (id, team) VALUES (1, ?)", team)
    for kind in KINDS:
        tx.do(f"UPDATE {kind.table} SET rev = 0")
        tx.do(f"INSERT INTO unshared (kind, key) SELECT ?, {kind.key} FROM {kind.table}", kind.table)


def cursors(tx: Transaction) -> dict[str, int]:
    """Return the last revision of each table that was fetched from the server."""
    found = tx.rows("SELECT cursors FROM sharing")
    return msgspec.json.decode(found[0][0], type=dict[str, int]) if found else {}


def put_cursor(tx: Transaction, kind: Kind, rev: int) -> None:
    tx.do("UPDATE sharing SET cursors = ?", json_of({**cursors(tx), kind.table: rev}))


def waiting_rows(tx: Transaction, host: str) -> list[WaitingRows]:
    """Return the next rows for the server; a row comes after the rows that it refers to."""
    found: list[WaitingRows] = []
    left = MOST
    for kind in KINDS:
        times = dict(tx.rows("SELECT key, times FROM unshared WHERE kind = ? ORDER BY key LIMIT ?", kind.table, left))
        rows = read_rows(tx, kind, f"WHERE t.{kind.key} IN ({blanks(times)})", *times) if times else []
        for gone in set(times) - {key for key, _ in rows}:
            tx.do("DELETE FROM unshared WHERE kind = ? AND key = ?", kind.table, gone)
        if rows:
            sent = sorted(((key, times[key], _to_server(row, host)) for key, row in rows), key=lambda each: each[0])
            found.append(WaitingRows(kind, tuple(sent)))
        left -= len(times)
        if left <= 0:
            break
    return found


def mark_accepted(tx: Transaction, sent: WaitingRows, revs: Mapping[str, int]) -> None:
    """Record that the server has these rows. A row that changed again meanwhile still waits."""
    for key, times, row in sent.rows:
        if row["uid"] not in revs:
            continue
        name = sent.kind.table
        tx.do(f"UPDATE {name} SET rev = ? WHERE {sent.kind.key} = ?", revs[row["uid"]], key)
        tx.do("DELETE FROM unshared WHERE kind = ? AND key = ? AND times = ?", name, key, times)
        tx.do("UPDATE unshared SET base = ? WHERE kind = ? AND key = ?", json_of(row), name, key)


def drop_waiting(tx: Transaction, sent: WaitingRows) -> None:
    """Stop sending rows that the server refuses, until they change again."""
    for key, *_ in sent.rows:
        tx.do("DELETE FROM unshared WHERE kind = ? AND key = ?", sent.kind.table, key)


def queue_live_sessions(tx: Transaction, since: int) -> None:
    """Queue sessions with a recent heartbeat, so that other machines do not take them for dead."""
    tx.do(
        "INSERT INTO unshared (kind, key) SELECT 'sessions', id FROM sessions"
        " WHERE host = '' AND ended_at IS NULL AND last_heartbeat > ? ON CONFLICT DO NOTHING",
        since,
    )


def store_remote_changes(tx: Transaction, kind: Kind, changes: Sequence[SharedRow], host: str) -> None:
    """Write the changes of other machines; a row that changed here too is merged."""
    tx.do("UPDATE sharing SET is_applying = 1")
    for row in changes:
        _store_one(tx, kind, {**row, "host": "" if row["host"] == host else row["host"]} if "host" in row else row)
    tx.do("UPDATE sharing SET is_applying = 0")


def _store_one(tx: Transaction, kind: Kind, row: SharedRow) -> None:
    found = read_rows(tx, kind, "WHERE t.uid = ?", row["uid"])
    if found and found[0][1]["rev"] >= row["rev"]:
        return  # it is the version that this machine sent
    local = _to_local(tx, kind, row)
    if any(local[name] is None for name in kind.needs):
        return
    if not found:
        _insert(tx, kind, row["uid"], local)
        return
    key, known = found[0]
    base = tx.rows("SELECT base FROM unshared WHERE kind = ? AND key = ?", kind.table, key)
    if base:
        row = _merge_rows(known, row, msgspec.json.decode(base[0][0]), is_ours=known.get("host") == "")
        tx.do("UPDATE unshared SET base = ? WHERE kind = ? AND key = ?", json_of(row), kind.table, key)
        local = _to_local(tx, kind, row)
    if kind.table == "tasks":
        local.pop("project_id")  # a task keeps its local project
    elif kind.table == "efforts":
        _free_ordinal(tx, local["task_id"], local["ordinal"], key)
    tx.do(f"UPDATE {kind.table} SET {assignments(local)} WHERE {kind.key} = ?", *local.values(), key)


def _merge_rows(here: SharedRow, there: SharedRow, base: Mapping[str, Any], *, is_ours: bool) -> SharedRow:
    """
    Merge a row that changed here and on another machine; `base` has the known values from before this one changed it.

    A column that only one machine changed takes that machine's value. If both changed it, this machine wins, since its
    change reaches the server later; but lists and objects keep the additions of both, and an end stays an end.
    """
    result = {**here, "rev": there["rev"]}
    for name, theirs in there.items():
        if name in ("uid", "rev"):
            continue
        if name in COUNTED:
            result[name] = here[name] if is_ours else theirs
        elif name == "lifecycle":
            result[name] = "finished" if "finished" in (here[name], theirs) else "active"
        elif name in END:
            ended, ours = there["ended_at"], here["ended_at"]  # the earlier end counts
            is_earlier = ended is not None and (ours is None or ended < ours)
            result[name] = theirs if is_earlier else here[name]
        elif name in FINAL or name not in base:
            result[name] = theirs if theirs is not None else here[name]
        elif here[name] == base[name]:
            result[name] = theirs
        else:
            result[name] = _merge_values(name, here[name], theirs, base[name])
    return result


def _merge_values(name: str, here: Any, there: Any, base: Any) -> Any:
    if name not in JSON_COLUMNS or there == base:
        return here
    ours, theirs, before = (read(name, each) for each in (here, there, base))
    if isinstance(ours, list) and isinstance(theirs, list):
        return json_of(union(theirs, ours))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return json_of(_merge_keys(ours, theirs, before if isinstance(before, dict) else {}))
    return here


def _merge_keys(ours: dict[str, Any], theirs: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Merge two objects key by key: additions, changes and removals of either side."""
    result = dict(theirs)
    for name in {*ours, *before}:
        if ours.get(name) == before.get(name):
            continue
        if name in ours:
            result[name] = ours[name]
        else:
            result.pop(name, None)
    return result


def _insert(tx: Transaction, kind: Kind, uid: str, local: SharedRow) -> None:
    place: dict[str, Any] = {}
    if kind.table == "projects":
        place = {"path": _free_path(tx, "projects", "path", uid)}
    elif kind.table == "tasks":
        ((path, name),) = tx.rows("SELECT path, uid FROM projects WHERE id = ?", local["project_id"])
        place = {"dir_path": _free_path(tx, "tasks", "dir_path", task_folder(uid, path, name))}
    elif kind.table == "efforts":
        _free_ordinal(tx, local["task_id"], local["ordinal"])
    given = {"uid": uid, **place, **local}
    tx.do(f"INSERT INTO {kind.table} ({', '.join(given)}) VALUES ({blanks(given)})", *given.values())


def _free_path(tx: Transaction, table: str, column: str, path: str) -> str:
    """Return the path, with a prefix if another row of this machine has it."""
    return f"elsewhere:{path}" if tx.rows(f"SELECT 1 FROM {table} WHERE {column} = ?", path) else path


def _free_ordinal(tx: Transaction, task_id: str, ordinal: int, for_id: int = 0) -> None:
    """Give a local effort the next ordinal, if the server gave its own to another effort."""
    taken = "SELECT id FROM efforts WHERE task_id = ? AND ordinal = ? AND id <> ?"
    for (id_,) in tx.rows(taken, task_id, ordinal, for_id):
        ((last,),) = tx.rows("SELECT MAX(ordinal) FROM efforts WHERE task_id = ?", task_id)
        effort = efforts.get(tx, id_)
        tx.do("UPDATE efforts SET ordinal = ? WHERE id = ?", last + 1, id_)
        artefacts.renumber(effort, last + 1)


def _to_local(tx: Transaction, kind: Kind, row: SharedRow) -> SharedRow:
    """Return the row as in the local table: uids of other rows replaced by their local keys."""
    local = {name: row[name] for name in ("rev", *kind.columns)}
    for name, (table, key) in kind.names.items():
        found = tx.rows(f"SELECT {key} FROM {table} WHERE uid = ?", row[name]) if row[name] is not None else []
        local[name] = found[0][0] if found else None
    return local


def _to_server(row: SharedRow, host: str) -> SharedRow:
    sent = {name: value.replace("\0", "") if isinstance(value, str) else value for name, value in row.items()}
    return {**sent, "host": sent["host"] or host} if "host" in sent else sent
