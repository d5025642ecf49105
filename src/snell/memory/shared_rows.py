"""
Exchange memories of a team through a server: what is sent, what is received, and what is forgotten everywhere.

A memory is sent as it was remembered: its text, with namespace, tags and time. Its importance and its accesses stay on
each machine. Only projects with a remote are shared, since a local path means nothing to others, and a machine
receives only the projects that it works on.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from snell.memory import project_renames
from snell.memory.remember import remember
from snell.memory.rows import COLUMNS, delete_texts, draft_of, from_row
from snell.memory.shortlist import Shortlist
from snell.memory.types import Draft, Memory, NotRememberedError, content_hash
from snell.model.protocols import Transaction
from snell.model.tables import get_meta_number, put_meta

MOST = 200  # rows in one transfer
OVERLAP = 50  # rows that are read again, since rows of several writers may appear out of order
FROM_TEAM = "team:"  # prefix of the source of a memory that a teammate stored

Safe = Callable[[Draft], Draft]


class ForgottenText(Struct, frozen=True):
    seq: int
    project: str
    content_hash: str


def set_sharing(tx: Transaction, *, is_shared: bool) -> None:
    """Start or stop recording which memories are deleted here, so that other machines can delete them too."""
    wanted = "yes" if is_shared else "no"
    if tx.rows("SELECT 1 FROM meta WHERE name = 'memory_shared' AND value = ?", wanted):
        return
    put_meta(tx, "memory_shared", wanted)
    if not is_shared:
        tx.do("DELETE FROM memory_forgotten")


def unsent(tx: Transaction) -> tuple[list[Memory], int]:
    """Return memories of this machine that the server does not have, and the position of the last."""
    sql = (
        f"SELECT seq, {COLUMNS} FROM memories WHERE seq > ? AND project <> '' AND project NOT LIKE '/%'"
        f" AND source NOT LIKE '{FROM_TEAM}%' ORDER BY seq LIMIT ?"
    )
    found = tx.rows(sql, _cursor(tx, "sent"), MOST)
    return [from_row(row[1:]) for row in found], int(found[-1][0]) if found else 0


def mark_sent(tx: Transaction, reached: int) -> None:
    put_meta(tx, "memory_cursor:sent", str(reached))


def list_forgotten(tx: Transaction, project: str = "", after: int = 0) -> list[ForgottenText]:
    """Return what was forgotten, on this machine or, on the server, in one project."""
    where, values = (" AND project = ?", (project,)) if project else ("", ())
    sql = f"SELECT seq, project, content_hash FROM memory_forgotten WHERE seq > ?{where} ORDER BY seq LIMIT ?"
    return [ForgottenText(int(seq), *rest) for seq, *rest in tx.rows(sql, after, *values, MOST)]


def mark_forgotten_sent(tx: Transaction, reached: int) -> None:
    """Note that the server knows what was forgotten up to this position."""
    tx.do("DELETE FROM memory_forgotten WHERE seq <= ?", reached)


def store_received(tx: Transaction, memories: Sequence[Memory], gone: Sequence[ForgottenText]) -> int:
    """On the server: delete what is forgotten, then store the memories. Duplicates are stored once."""
    for each in gone:
        delete_texts(tx, each.project, [each.content_hash])
        sql = "INSERT INTO memory_forgotten (project, content_hash) VALUES (?, ?) ON CONFLICT DO NOTHING"
        tx.do(sql, each.project, each.content_hash)
    return sum(_store(tx, draft_of(memory), similar=2.0) for memory in memories)


def projects(tx: Transaction) -> list[str]:
    """Return the shared projects that this machine works on."""
    found = {each.project for each in project_renames.checkouts(tx)}
    return sorted(name for name in found if name and not name.startswith("/"))


def changes_since(tx: Transaction, project: str, known: int, gone: int) -> "Changes":
    """On the server: return what is new in a project since these two positions."""
    sql = f"SELECT seq, {COLUMNS} FROM memories WHERE project = ? AND seq > ? ORDER BY seq LIMIT ?"
    rows = tx.rows(sql, project, max(0, known - OVERLAP), MOST + OVERLAP)
    return Changes(
        memories=[from_row(row[1:]) for row in rows],
        forgotten=list_forgotten(tx, project, gone),
        known=max([known, *(int(row[0]) for row in rows)]),
    )


class Changes(Struct, frozen=True):
    memories: list[Memory]
    forgotten: list[ForgottenText]
    known: int

    @property
    def gone(self) -> int:
        return self.forgotten[-1].seq if self.forgotten else 0


def positions(tx: Transaction, project: str) -> tuple[int, int]:
    return _cursor(tx, f"known:{project}"), _cursor(tx, f"gone:{project}")


def apply_changes(tx: Transaction, project: str, changes: Changes, safe: Safe) -> int:
    """On this machine: delete what others forgot, then store what they know; returns how many are new."""
    gone = [each.content_hash for each in changes.forgotten]
    delete_texts(tx, project, gone)
    for each in gone:  # the others know already
        tx.do("DELETE FROM memory_forgotten WHERE project = ? AND content_hash = ?", project, each)
    kept = sum(_store_from_team(tx, memory, safe) for memory in changes.memories)
    put_meta(tx, f"memory_cursor:known:{project}", str(changes.known))
    if changes.gone:
        put_meta(tx, f"memory_cursor:gone:{project}", str(changes.gone))
    return kept


def _store_from_team(tx: Transaction, memory: Memory, safe: Safe) -> bool:
    draft = replace(draft_of(memory), source=f"{FROM_TEAM}{memory.source.removeprefix(FROM_TEAM)}")
    try:
        return _store(tx, safe(draft), similar=1.0)
    except NotRememberedError:  # an invalid or mostly secret one does not hold up the others
        return False


def _store(tx: Transaction, draft: Draft, *, similar: float) -> bool:
    sql = "DELETE FROM memory_forgotten WHERE project = ? AND content_hash = ?"
    tx.do(sql, draft.project, content_hash(draft.content))
    return remember(tx, draft, Shortlist(), similar=similar, is_gated=False).is_stored


def _cursor(tx: Transaction, name: str) -> int:
    return get_meta_number(tx, f"memory_cursor:{name}")
