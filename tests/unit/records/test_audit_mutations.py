"""Random changes of a store, as another program makes them: each is noticed."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from snell.records import decisions, row_seals
from snell.records.audit_anchors import ANCHOR_FILE
from snell.records.audit_key import KEY_FILE
from snell.records.audit_log import AuditLog
from snell.store.sqlite import SqliteDatabase
from tests.case_counts import cases
from tests.unit.records.audit_store import RECORDS, fresh, verified

MUTATIONS = cases(240, 1_000)

# The tables in which every change is noticed, with the columns that identify a row.
TABLES = {
    **dict.fromkeys(row_seals.TABLES, ("rowid",)),
    "tool_claims": ("run_id", "idempotency_key"),
    "tool_bodies": ("ref",),
    "audit_chain": ("rowid",),
    "row_tallies": ("rowid",),
}
FREE = {  # what is not a record: the name, or the name and a column
    "schema of SQLite": ("sqlite_sequence",),
    "state of hooks": ("marks",),
    "sums of sealed rows": ("call_totals",),
    "work in progress": ("projects", "skills", "tasks", "efforts", "sessions", "phase_history", "messages", "agents"),
    "sharing with a team": ("sharing", "unshared", "memory_forgotten"),
    "an index": (
        "memory_words",
        "memory_words_config",
        "memory_words_data",
        "memory_words_docsize",
        "memory_words_idx",
    ),
    "use": ("memories.accesses", "memories.accessed_at"),
    "when to delete a body, which is missed if it is too early": ("tool_bodies.created_at",),
}


def test_every_table_is_covered_or_has_a_reason_not_to_be(original: Path):
    connection = apsw.Connection(str(original / "snell.db"))
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    free = {name for names in FREE.values() for name in names if "." not in name}
    assert tables == TABLES.keys() | (free & tables)


def columns_of(sql: apsw.Connection, table: str) -> list[str]:
    free = {name for names in FREE.values() for name in names}
    names = [row[1] for row in sql.execute(f"PRAGMA table_info({table})")]
    return [name for name in names if f"{table}.{name}" not in free]


def a_row_of(sql: apsw.Connection, chance: random.Random, table: str) -> tuple[str, tuple[Any, ...]]:
    """Of bodies, one that belongs to a call which has ended: it is not known yet how the others will end."""
    ended = "SELECT {} FROM tool_calls WHERE status = 'succeeded'"
    only = f" WHERE ref IN ({ended.format('request_ref')} UNION {ended.format('response_ref')})"
    key = TABLES[table]
    rows = sql.execute(f"SELECT {', '.join(key)} FROM {table}{only if table == 'tool_bodies' else ''}").fetchall()
    return " AND ".join(f"{name} = ?" for name in key), chance.choice(rows)


def end_it(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    """A call that is open is made to look as if it had succeeded, as Snell would write it."""
    row = chance.choice(sql.execute("SELECT rowid FROM tool_calls WHERE status = 'prepared'").fetchall())[0]
    later = ", revision = (SELECT MAX(revision) + 1 FROM tool_calls)" if chance.random() < 0.7 else ""
    sql.execute(f"UPDATE tool_calls SET status = 'succeeded'{later} WHERE rowid = ?", (row,))


def append(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    """A row is added after the last one, as Snell would add it; with the seal of another row, or with none."""
    table = chance.choice([name for name in row_seals.TABLES if name != "memories"])
    names = [row[1] for row in sql.execute(f"PRAGMA table_info({table})")]
    new = {"seq": f"(SELECT MAX(seq) + 1 FROM {table})", "revision": "(SELECT MAX(revision) + 1 FROM tool_calls)"}
    first = next(name for name in names if name != "seq")
    new |= {first: f"{first} || 'x'", "step_index": "step_index + 9"}
    if chance.random() < 0.5:
        new |= {"seal": "x''"}
    values = ", ".join(new.get(name, name) for name in names)
    where, row = a_row_of(sql, chance, table)
    sql.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} WHERE {where}", row)


def remove_chain(sql: apsw.Connection, chance: random.Random, folder: Path) -> None:
    """The chain goes, with what else says that there was one; Snell begins another one."""
    sql.execute("DELETE FROM audit_chain")
    for statement in ("DELETE FROM meta WHERE name = 'audit_head'", "DELETE FROM row_tallies"):
        if chance.random() < 0.5:
            sql.execute(statement)
    for name in (ANCHOR_FILE, "audit.verified", KEY_FILE):
        if chance.random() < 0.7:
            (folder / name).unlink(missing_ok=True)
    if chance.random() < 0.7:
        database = SqliteDatabase(folder / "snell.db")
        AuditLog(database, folder).keep_up(at_once=True)
        database.close()


def edit(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    table = chance.choice(list(TABLES))
    where, row = a_row_of(sql, chance, table)
    column = chance.choice(columns_of(sql, table))
    before = sql.execute(f"SELECT {column} FROM {table} WHERE {where}", row).fetchall()[0][0]
    after = before + 1_000_000 if isinstance(before, int | float) else f"{before}x"
    sql.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (after, *row))


def restore(sql: apsw.Connection, chance: random.Random, folder: Path) -> None:
    """A row is as it was before, with the seal that it had then."""
    sql.execute("ATTACH ? AS older", (str(folder / "older.db"),))
    both = "older.tool_calls o JOIN main.tool_calls t USING (tool_call_id)"
    changed = sql.execute(f"SELECT o.rowid FROM {both} WHERE o.revision <> t.revision")
    row = chance.choice(changed.fetchall())[0]
    names = [name for name in columns_of(sql, "tool_calls") if name != "tool_call_id"]
    values = ", ".join(f"{name} = (SELECT {name} FROM older.tool_calls o WHERE o.rowid = {row})" for name in names)
    sql.execute(f"UPDATE main.tool_calls SET {values} WHERE rowid = {row}")


def drop(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    table = chance.choice([name for name in TABLES if name != "tool_receipts"])  # a receipt is gone when its call ends
    where, row = a_row_of(sql, chance, table)
    sql.execute(f"DELETE FROM {table} WHERE {where}", row)


def reorder(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    table = chance.choice(["decisions", "audit_chain"])
    one, other = chance.sample([row[0] for row in sql.execute(f"SELECT seq FROM {table}").fetchall()], 2)
    for old, new in ((one, -1), (other, one), (-1, other)):
        sql.execute(f"UPDATE {table} SET seq = ? WHERE seq = ?", (new, old))


def swap(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    one, other = chance.sample([row[0] for row in sql.execute("SELECT ref FROM tool_bodies").fetchall()], 2)
    ended = "SELECT request_ref FROM tool_calls WHERE status = 'succeeded'"
    while (one,) not in sql.execute(ended).fetchall():
        one = chance.choice(sql.execute(ended).fetchall())[0]
    if one == other:
        other = "other"
    sql.execute("UPDATE tool_bodies SET body = body || ? WHERE ref = ?", (other, one))


def truncate(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    """The end of everything goes, so that what is left fits together."""
    link = chance.randrange(1, sql.execute("SELECT MAX(seq) FROM audit_chain").fetchall()[0][0])
    gone = [row[0] for row in sql.execute("SELECT record_id FROM audit_chain WHERE seq > ?", (link,)).fetchall()]
    for id_ in gone:
        sql.execute("DELETE FROM decisions WHERE id = ?", (id_,))
        sql.execute("DELETE FROM tool_calls WHERE tool_call_id = ?", (id_,))
    sql.execute("DELETE FROM audit_chain WHERE seq > ?", (link,))
    sql.execute("DELETE FROM meta WHERE name = 'audit_head'")


def insert(sql: apsw.Connection, chance: random.Random, _folder: Path) -> None:
    sql.execute("UPDATE decisions SET seq = seq + 1000000 WHERE seq = (SELECT MAX(seq) FROM decisions)")
    columns = ", ".join(name for name in decisions.FIELDS if name != "id")
    sql.execute(
        f"INSERT INTO decisions (seq, id, {columns}) SELECT {RECORDS}, 'forged', {columns} FROM decisions LIMIT 1"
    )


def roll_back(_sql: apsw.Connection, chance: random.Random, folder: Path) -> None:
    for name in ("snell.db-wal", "snell.db-shm"):
        (folder / name).unlink(missing_ok=True)
    shutil.copy(folder / "older.db", folder / "snell.db")


def cut_notes(_sql: apsw.Connection, chance: random.Random, folder: Path) -> None:
    path = folder / ANCHOR_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: chance.randrange(len(lines))]))


def change_notes(_sql: apsw.Connection, chance: random.Random, folder: Path) -> None:
    path = folder / ANCHOR_FILE
    data = bytearray(path.read_bytes())
    at = chance.choice([index for index, byte in enumerate(data) if byte != 10])
    data[at] = data[at] ^ 1 or 49
    path.write_bytes(bytes(data))


def other_key(_sql: apsw.Connection, chance: random.Random, folder: Path) -> None:
    (folder / KEY_FILE).write_text(chance.randbytes(32).hex(), encoding="ascii")


KINDS: tuple[Callable[[apsw.Connection, random.Random, Path], None], ...] = (
    edit, edit, edit, edit, end_it, append, append, remove_chain, restore, drop, drop, reorder, swap, truncate,
    insert, roll_back, cut_notes, change_notes, other_key,
)  # fmt: skip


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("part", range(4))
def test_random_changes_are_all_noticed(original: Path, tmp_path: Path, part: int):
    missed = []
    for number in range(part, MUTATIONS, 4):
        folder = fresh(original, tmp_path / "state")
        chance = random.Random(number)
        kind = KINDS[number % len(KINDS)]
        connection = apsw.Connection(str(folder / "snell.db"))
        connection.pragma("foreign_keys", 0)
        kind(connection, chance, folder)
        connection.close()
        if verified(folder).is_good:
            missed.append((number, kind.__name__))
    assert missed == []
