"""
Memories that a team shares through a server: what goes there, what comes back, and what is forgotten everywhere.

A memory travels as what was remembered: its text, with namespace, tags and time. How important it is to whom, and how
often it was of use, stays on each machine. Only projects with a remote are shared, since a path means nothing to
others, and only those that a machine works on come to it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.memory import project_renames
from snell.memory.exchange_format import draft_of
from snell.memory.remember import remember
from snell.memory.rows import COLUMNS, delete_texts, from_row
from snell.memory.shortlist import Shortlist
from snell.memory.types import Draft, Memory, NotRememberedError, content_hash
from snell.model.meta_table import put_meta
from snell.model.protocols import Transaction

MOST = 200  # in one journey
OVERLAP = 50  # rows that are looked at again, since several writers' rows may appear out of order
FROM_TEAM = "team:"  # what the source of a memory begins with that somebody else kept

Safe = Callable[[Draft], Draft]


class Forgotten(Struct, frozen=True):
    seq: int
    project: str
    content_hash: str


def switch(tx: Transaction, *, is_shared: bool) -> None:
    """On this machine: from now on what is forgotten is noted down for the others, or no longer."""
    wanted = "yes" if is_shared else "no"
    if tx.rows("SELECT 1 FROM meta WHERE name = 'memory_shared' AND value = ?", wanted):
        return
    put_meta(tx, "memory_shared", wanted)
    if not is_shared:
        tx.do("DELETE FROM memory_forgotten")


def unsent(tx: Transaction) -> tuple[list[Memory], int]:
    """Memories of this machine that the server does not have, and how far they reach."""
    sql = (
        f"SELECT seq, {COLUMNS} FROM memories WHERE seq > ? AND project <> '' AND project NOT LIKE '/%'"
        f" AND source NOT LIKE '{FROM_TEAM}%' ORDER BY seq LIMIT ?"
    )
    found = tx.rows(sql, _cursor(tx, "sent"), MOST)
    return [from_row(row[1:]) for row in found], int(found[-1][0]) if found else 0


def mark_sent(tx: Transaction, reached: int) -> None:
    put_meta(tx, "memory_cursor:sent", str(reached))


def list_forgotten(tx: Transaction, project: str = "", after: int = 0) -> list[Forgotten]:
    """What was forgotten, here or, asked of the server, of one project."""
    where, values = (" AND project = ?", (project,)) if project else ("", ())
    sql = f"SELECT seq, project, content_hash FROM memory_forgotten WHERE seq > ?{where} ORDER BY seq LIMIT ?"
    return [Forgotten(int(seq), *rest) for seq, *rest in tx.rows(sql, after, *values, MOST)]


def mark_forgotten_sent(tx: Transaction, reached: int) -> None:
    """The server knows what was forgotten up to here."""
    tx.do("DELETE FROM memory_forgotten WHERE seq <= ?", reached)


def take_in(tx: Transaction, memories: Sequence[Memory], gone: Sequence[Forgotten]) -> int:
    """On the server: first what is to be forgotten, then what is to be known. What comes twice counts once."""
    for each in gone:
        delete_texts(tx, each.project, [each.content_hash])
        sql = "INSERT INTO memory_forgotten (project, content_hash) VALUES (?, ?) ON CONFLICT DO NOTHING"
        tx.do(sql, each.project, each.content_hash)
    return sum(_keep(tx, draft_of(memory), similar=2.0) for memory in memories)


def projects(tx: Transaction) -> list[str]:
    """What this machine works on and others may know, too."""
    found = {each.project for each in project_renames.checkouts(tx)}
    return sorted(name for name in found if name and not name.startswith("/"))


def news(tx: Transaction, project: str, known: int, gone: int) -> "News":
    """On the server: what is new of a project since these two positions."""
    sql = f"SELECT seq, {COLUMNS} FROM memories WHERE project = ? AND seq > ? ORDER BY seq LIMIT ?"
    rows = tx.rows(sql, project, max(0, known - OVERLAP), MOST + OVERLAP)
    return News(
        memories=[from_row(row[1:]) for row in rows],
        forgotten=list_forgotten(tx, project, gone),
        known=max([known, *(int(row[0]) for row in rows)]),
    )


class News(Struct, frozen=True):
    memories: list[Memory]
    forgotten: list[Forgotten]
    known: int

    @property
    def gone(self) -> int:
        return self.forgotten[-1].seq if self.forgotten else 0


def positions(tx: Transaction, project: str) -> tuple[int, int]:
    return _cursor(tx, f"known:{project}"), _cursor(tx, f"gone:{project}")


def bring_in(tx: Transaction, project: str, news: News, safe: Safe) -> int:
    """On this machine: forget what others forgot, then keep what they know; returns how many are new."""
    gone = [each.content_hash for each in news.forgotten]
    delete_texts(tx, project, gone)
    for each in gone:  # they know already
        tx.do("DELETE FROM memory_forgotten WHERE project = ? AND content_hash = ?", project, each)
    kept = sum(_brought(tx, memory, safe) for memory in news.memories)
    put_meta(tx, f"memory_cursor:known:{project}", str(news.known))
    if news.gone:
        put_meta(tx, f"memory_cursor:gone:{project}", str(news.gone))
    return kept


def _brought(tx: Transaction, memory: Memory, safe: Safe) -> bool:
    try:
        return _keep(tx, safe(replace(draft_of(memory), source=_source(memory))), similar=1.0)
    except NotRememberedError:  # one that is mostly secret, or none at all, keeps no other one back
        return False


def _keep(tx: Transaction, draft: Draft, *, similar: float) -> bool:
    sql = "DELETE FROM memory_forgotten WHERE project = ? AND content_hash = ?"
    tx.do(sql, draft.project, content_hash(draft.content))
    return remember(tx, draft, Shortlist(), similar=similar, is_gated=False).is_stored


def _source(memory: Memory) -> str:
    return f"{FROM_TEAM}{memory.source.removeprefix(FROM_TEAM)}"


def _cursor(tx: Transaction, name: str) -> int:
    found: list[tuple[Any, ...]] = tx.rows("SELECT value FROM meta WHERE name = ?", f"memory_cursor:{name}")
    return int(found[0][0]) if found else 0
