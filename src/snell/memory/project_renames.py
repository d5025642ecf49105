"""
Keep a repository's memories when its project is renamed: a remote that changes, is removed or added again.

The last name of each repository is stored. INVARIANT: if the remote of a project is changed to another project with
memories, none are moved, neither then nor when it is changed back, whether or not the first has memories; otherwise a
short change would mix two projects.
"""

import msgspec

from snell.memory.project_identity import Checkout, checkout_of
from snell.memory.remember import remember
from snell.memory.rows import draft_of, iter_memories, move_project
from snell.memory.shortlist import Shortlist
from snell.model.protocols import Transaction
from snell.model.tables import get_meta, put_meta


def needs_rename(tx: Transaction, folder: str) -> bool:
    """Whether `follow_rename` has anything to do. Mostly not, and reading does not block writers."""
    now = checkout_of(folder)
    return (bool(now.earlier_name) and _has_memories(tx, now.earlier_name)) or _is_new(tx, now)


def follow_rename(tx: Transaction, folder: str) -> int:
    """Move memories from an earlier name of the folder's project to its current one; returns how many."""
    now = checkout_of(folder)
    moved = move_project(tx, now.earlier_name, now.project)
    return moved + follow(tx, now, has_joined=moved > 0)


def follow(tx: Transaction, now: Checkout, *, has_joined: bool = False) -> int:
    """
    Move the memories if the project had another name when this repository was last seen.

    `has_joined`: the memories of its earlier name are under the new one already. Returns how many were moved.
    """
    if not _is_new(tx, now):
        return 0
    known = _last_checkout(tx, now.repository)
    put_meta(tx, f"{_REPOSITORY}{now.repository}", msgspec.json.encode(now).decode())
    if known is None or known.project == now.project:
        return 0
    kept_apart = get_meta(tx, f"{_LEFT}{now.repository}")  # names it had and whose memories did not follow it
    left = msgspec.json.decode(kept_apart, type=list[str]) if kept_apart else []
    if now.project in left or not _may_follow(tx, known.project, now.project):
        if not has_joined:  # the memories of the new name are another project's, and stay there when this one leaves it
            put_meta(tx, f"{_LEFT}{now.repository}", msgspec.json.encode([*left, known.project][-_MOST_LEFT:]).decode())
        return 0
    put_meta(tx, f"{_RENAMED}{known.project}", now.project)
    tx.do("DELETE FROM meta WHERE name = ?", f"{_RENAMED}{now.project}")
    others = (each for each in checkouts(tx) if each.project == known.project and each.repository != now.repository)
    if any(checkout_of(each.root) == each for each in others):  # it still exists under that name
        return _copy(tx, known.project, now.project)
    return move_project(tx, known.project, now.project)


def _is_new(tx: Transaction, now: Checkout) -> bool:
    return bool(now.repository and now.project) and _last_checkout(tx, now.repository) != now


def was_called(tx: Transaction, repository: str, name: str) -> bool:
    """Whether this was an earlier name of the repository's project."""
    known = _last_checkout(tx, repository)
    return bool(known and name and get_meta(tx, f"{_RENAMED}{name}") == known.project)


_REPOSITORY, _RENAMED = "memory_repository:", "memory_renamed:"
_LEFT, _MOST_LEFT = "memory_left:", 20


def _may_follow(tx: Transaction, old: str, new: str) -> bool:
    """Whether the new name is unused, or was given to this project before."""
    return not _has_memories(tx, new) or get_meta(tx, f"{_RENAMED}{old}") == new


def _has_memories(tx: Transaction, project: str) -> bool:
    return bool(tx.rows("SELECT 1 FROM memories WHERE project = ? LIMIT 1", project))


def _copy(tx: Transaction, old: str, new: str) -> int:
    """Copy the memories: another checkout keeps the old name, so both projects need them."""
    drafts = [draft_of(memory) for memory in iter_memories(tx, project=old)]
    moved = (msgspec.structs.replace(draft, project=new) for draft in drafts)
    nearest = Shortlist()
    return sum(remember(tx, draft, nearest, similar=2.0, is_gated=False).is_stored for draft in moved)


def _last_checkout(tx: Transaction, repository: str) -> Checkout | None:
    found = get_meta(tx, f"{_REPOSITORY}{repository}")
    return msgspec.json.decode(found, type=Checkout) if found else None


def checkouts(tx: Transaction) -> list[Checkout]:
    """Return all repositories that were seen on this machine."""
    found = tx.rows("SELECT value FROM meta WHERE name LIKE ?", f"{_REPOSITORY}%")
    return [msgspec.json.decode(value, type=Checkout) for (value,) in found]
