"""Read, count, move and delete the rows of memories. Plain functions over a transaction."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from snell.memory.shortlist import bump
from snell.memory.sql import AT_ONCE, parts, rows_for, scope
from snell.memory.types import ANY, Draft, Memory, NotRememberedError, as_draft
from snell.memory.validation import check_namespace
from snell.model.protocols import Transaction
from snell.model.tables import blanks
from snell.system.wall_clock import now_ms

COLUMNS = ", ".join(Memory.__struct_fields__)
MOST_ACCESSES = 1_000_000_000


class Stats(Struct, frozen=True, kw_only=True):
    memories: int = 0
    characters: int = 0
    namespaces: dict[str, int] = {}
    projects: dict[str, int] = {}
    sources: dict[str, int] = {}
    average_importance: float = 0.0
    accesses: int = 0
    oldest: int = 0
    newest: int = 0
    with_dense: int = 0


def get(tx: Transaction, memory_id: str) -> Memory:
    """Return the memory with this id; raises NotRememberedError if there is none."""
    found = tx.rows(f"SELECT {COLUMNS} FROM memories WHERE id = ?", memory_id)
    if not found:
        raise NotRememberedError(f"there is no memory `{memory_id[:80]}`", advice="`snell memory list` lists them")
    return from_row(found[0])


def get_many(tx: Transaction, memory_ids: Sequence[str]) -> dict[str, Memory]:
    """Return those of these memories that exist, by id."""
    found = map(from_row, rows_for(tx, f"SELECT {COLUMNS} FROM memories WHERE id IN ({{}})", memory_ids))
    return {memory.id: memory for memory in found}


def list_memories(
    tx: Transaction, *, project: str = ANY, namespace: str = "", limit: int = 50, before: int = 0
) -> list[Memory]:
    """Return the newest first; `before`: only those older than this time."""
    where, values = scope(project, namespace)
    if before:
        where, values = f"{where} AND created_at < ?", [*values, before]
    sql = f"SELECT {COLUMNS} FROM memories WHERE {where} ORDER BY created_at DESC, seq DESC LIMIT ?"
    return [from_row(row) for row in tx.rows(sql, *values, limit)]


def iter_memories(tx: Transaction, *, project: str = ANY, namespace: str = "") -> Iterator[Memory]:
    """Yield all of them, oldest first, read in parts."""
    where, values = scope(project, namespace)
    last = -1
    while True:
        sql = f"SELECT seq, {COLUMNS} FROM memories WHERE {where} AND seq > ? ORDER BY seq LIMIT ?"
        rows = tx.rows(sql, *values, last, AT_ONCE)
        yield from (from_row(row[1:]) for row in rows)
        if len(rows) < AT_ONCE:
            return
        last = int(rows[-1][0])


def vectors_of(tx: Transaction, *, project: str = ANY, namespace: str = "", limit: int = 10_000) -> dict[str, bytes]:
    """Return the offline vectors (256 signed bytes each) by id, the newest first: for maps and groups."""
    where, values = scope(project, namespace)
    sql = f"SELECT id, vector FROM memories WHERE {where} ORDER BY seq DESC LIMIT ?"
    return {str(id_): bytes(vector) for id_, vector in tx.rows(sql, *values, limit)}


def touch(tx: Transaction, memory_ids: Sequence[str], now: int = 0) -> int:
    """Count an access of these memories."""
    now = now or now_ms()
    sql = "UPDATE memories SET accesses = accesses + 1, accessed_at = ? WHERE id IN"
    return sum(tx.do(f"{sql} ({blanks(part)})", now, *part) for part in parts(memory_ids))


def restore_use(tx: Transaction, memory_id: str, was: Memory) -> None:
    """Restore the usage of an imported memory; times in the future or before the memory itself are corrected."""
    now = now_ms()
    times = [min(max(was.created_at, each), now) if each > 0 else now for each in (was.updated_at, was.accessed_at)]
    accesses = min(max(0, was.accesses), MOST_ACCESSES)
    sql = "UPDATE memories SET updated_at = ?, accessed_at = ?, accesses = ? WHERE id = ?"
    tx.do(sql, *times, accesses, memory_id)


def forget(tx: Transaction, memory_ids: Sequence[str]) -> list[str]:
    """Delete these for good; returns the ids that existed."""
    found = list(rows_for(tx, "SELECT seq, id FROM memories WHERE id IN ({})", memory_ids))
    _delete(tx, [int(seq) for seq, _ in found])
    return [str(id_) for _, id_ in found]


def namespaces(tx: Transaction, *, project: str = ANY) -> dict[str, int]:
    """Return how many memories each namespace has."""
    return _count_by(tx, "namespace", project)


def rename_namespace(tx: Transaction, old: str, new: str, *, project: str = ANY) -> int:
    """Rename a namespace; if the new name exists, its memories move there."""
    check_namespace(old)
    check_namespace(new)
    where, values = scope(project, old)
    changed = tx.do(f"UPDATE memories SET namespace = ?, updated_at = ? WHERE {where}", new, now_ms(), *values)
    if not changed:
        raise NotRememberedError(f"there is no namespace `{old}`", advice="`snell memory namespaces` lists them")
    bump(tx)
    return changed


def delete_namespace(tx: Transaction, name: str, *, project: str = ANY, dry_run: bool = True) -> int:
    """Delete all memories of a namespace; returns how many that is, or would be."""
    check_namespace(name)
    where, values = scope(project, name)
    seqs = [int(seq) for (seq,) in tx.rows(f"SELECT seq FROM memories WHERE {where}", *values)]
    if not dry_run and seqs:
        _delete(tx, seqs)
        bump(tx)
    return len(seqs)


def delete_texts(tx: Transaction, project: str, hashes: Sequence[str]) -> int:
    """Delete the memories of a project whose texts have these hashes; returns how many."""
    found = rows_for(tx, "SELECT seq FROM memories WHERE project = ? AND content_hash IN ({})", hashes, project)
    seqs = [int(seq) for (seq,) in found]
    _delete(tx, seqs)
    return len(seqs)


def move_project(tx: Transaction, old: str, new: str) -> int:
    """Move the memories of a renamed project; a text under both names stays once. Returns how many were moved."""
    if not old or not new or not tx.rows("SELECT 1 FROM memories WHERE project = ? LIMIT 1", old):
        return 0
    twice = "SELECT seq FROM memories WHERE project = ? AND content_hash IN"
    found = tx.rows(f"{twice} (SELECT content_hash FROM memories WHERE project = ?)", old, new)
    _delete(tx, [int(seq) for (seq,) in found])
    both = "SELECT key FROM memory_keys WHERE project = ?"
    tx.do(f"DELETE FROM memory_keys WHERE project = ? AND key IN ({both})", old, new)
    tx.do("UPDATE memory_keys SET project = ? WHERE project = ?", new, old)
    moved = tx.do("UPDATE memories SET project = ? WHERE project = ?", new, old)
    bump(tx)
    return moved


def stats(tx: Transaction, *, project: str = ANY) -> Stats:
    where, values = scope(project)
    sums = tx.rows(
        "SELECT count(*), coalesce(sum(length(content)), 0), coalesce(avg(importance), 0), coalesce(sum(accesses), 0),"
        f" coalesce(min(created_at), 0), coalesce(max(created_at), 0), count(dense) FROM memories WHERE {where}",
        *values,
    )[0]
    names = ("memories", "characters", "average_importance", "accesses", "oldest", "newest", "with_dense")
    numbers = {name: int(number) for name, number in zip(names, sums, strict=True)}
    counts = {f"{column}s": _count_by(tx, column, project) for column in ("namespace", "project", "source")}
    return msgspec.convert({**numbers, "average_importance": round(float(sums[2]), 4), **counts}, Stats)


def from_row(row: Sequence[Any]) -> Memory:
    """Return the memory in a row of the columns `COLUMNS`."""
    fields: dict[str, Any] = dict(zip(Memory.__struct_fields__, row, strict=True))
    fields["tags"] = tuple(msgspec.json.decode(fields["tags"]))
    fields["metadata"] = msgspec.json.decode(fields["metadata"])
    return Memory(**fields)


def draft_of(memory: Memory) -> Draft:
    """Return the draft that stores this memory again."""
    at = memory.created_at if 0 < memory.created_at <= now_ms() + 60_000 else 0
    return as_draft(memory, source=memory.source or "import", at=at)


def _count_by(tx: Transaction, column: str, project: str) -> dict[str, int]:
    where, values = scope(project)
    sql = f"SELECT {column}, count(*) FROM memories WHERE {where} GROUP BY {column} ORDER BY 2 DESC, 1"
    return {str(name): int(number) for name, number in tx.rows(sql, *values)}


def _delete(tx: Transaction, seqs: Sequence[int]) -> None:
    """Delete rows. INVARIANT: a memory, its words and its keys are deleted together."""
    rowid = "rowid" if tx.dialect == "sqlite" else "seq"
    for part in parts(seqs):
        these = f"({blanks(part)})"
        tx.do(f"DELETE FROM memory_words WHERE {rowid} IN {these}", *part)
        tx.do(f"DELETE FROM memory_keys WHERE memory_id IN (SELECT id FROM memories WHERE seq IN {these})", *part)
        tx.do(f"DELETE FROM memories WHERE seq IN {these}", *part)
