"""
A repository keeps its memories when its project gets another name: a remote that is renamed, removed or added again.

Each repository is noted with the name it had last. INVARIANT: one that only points somewhere else, at a project that
has memories of its own, brings none along and takes none away when it leaves; else pointing at a project for a moment
would mix the two.
"""

from collections.abc import Callable

import msgspec
from msgspec import Struct

from snell.memory.exchange_format import draft_of
from snell.memory.remember import remember
from snell.memory.rows import iter_memories, move_project
from snell.memory.shortlist import Shortlist
from snell.model.meta_table import get_meta, put_meta
from snell.model.protocols import Transaction


class Checkout(Struct, frozen=True):
    """One repository on this machine: what never changes about it, where it is, and what its project is called."""

    repository: str
    root: str
    project: str


def follow(tx: Transaction, now: Checkout, is_current: Callable[[Checkout], bool]) -> int:
    """
    Let the memories go along if the project was called otherwise when this repository was last seen.

    `is_current` says of another checkout whether it is still there under its name. Returns how many came along.
    """
    if not is_news(tx, now):
        return 0
    known = _noted(tx, now.repository)
    put_meta(tx, f"{_REPOSITORY}{now.repository}", msgspec.json.encode(now).decode())
    if known is None or known.project == now.project or not _may_follow(tx, known.project, now.project):
        return 0
    put_meta(tx, f"{_RENAMED}{known.project}", now.project)
    tx.do("DELETE FROM meta WHERE name = ?", f"{_RENAMED}{now.project}")
    others = (each for each in checkouts(tx) if each.project == known.project and each.repository != now.repository)
    if any(map(is_current, others)):
        return _copied(tx, known.project, now.project)
    return move_project(tx, known.project, now.project)


def is_news(tx: Transaction, now: Checkout) -> bool:
    """Has `follow` anything to do?"""
    return bool(now.repository and now.project) and _noted(tx, now.repository) != now


def was_called(tx: Transaction, repository: str, name: str) -> bool:
    """Was this the name of the repository's project before the one it has now?"""
    known = _noted(tx, repository)
    return bool(known and name and get_meta(tx, f"{_RENAMED}{name}") == known.project)


_REPOSITORY, _RENAMED = "memory_repository:", "memory_renamed:"


def _may_follow(tx: Transaction, old: str, new: str) -> bool:
    """Into a name that nobody uses yet, or one that this project has been given before."""
    is_new = not tx.rows("SELECT 1 FROM memories WHERE project = ? LIMIT 1", new)
    return is_new or get_meta(tx, f"{_RENAMED}{old}") == new


def _copied(tx: Transaction, old: str, new: str) -> int:
    """Another checkout goes on under the old name, so both know what was known so far."""
    drafts = [draft_of(memory) for memory in iter_memories(tx, project=old)]
    nearest = Shortlist()
    kept = (
        remember(tx, msgspec.structs.replace(draft, project=new), nearest, similar=2.0, is_gated=False)
        for draft in drafts
    )
    return sum(each.is_stored for each in kept)


def _noted(tx: Transaction, repository: str) -> Checkout | None:
    found = get_meta(tx, f"{_REPOSITORY}{repository}")
    return msgspec.json.decode(found, type=Checkout) if found else None


def checkouts(tx: Transaction) -> list[Checkout]:
    """All repositories that were seen on this machine."""
    found = tx.rows("SELECT value FROM meta WHERE name LIKE ?", f"{_REPOSITORY}%")
    return [msgspec.json.decode(value, type=Checkout) for (value,) in found]
