"""Merge memories that say the same."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from snell.llm.embeddings.static_vectors import cosine, wording_of
from snell.memory.near_duplicates import agree
from snell.memory.remember import remember
from snell.memory.rows import forget, get_many, vectors_of
from snell.memory.shortlist import Shortlist
from snell.memory.types import LONGEST, Draft, Memory, as_draft
from snell.memory.vector_space import Space
from snell.model.protocols import Transaction

Strategy = Literal["keep_newest", "keep_oldest", "keep_highest_importance", "merge_content"]
_NO_LIMIT = 2.0  # a similarity that no memory reaches


class MergedGroup(Struct, frozen=True, kw_only=True):
    """A group that is one memory now, or would be after a dry run."""

    kept: str
    gone: tuple[str, ...]
    similarity: float  # of the least similar one


def consolidate(
    tx: Transaction,
    shortlist: Shortlist,
    *,
    project: str,
    namespace: str,
    similarity_threshold: float = 0.85,
    strategy: Strategy = "keep_highest_importance",
    dry_run: bool = True,
    max_groups: int = 50,
) -> list[MergedGroup]:
    """Merge the groups of a namespace that are at least so similar, the largest first. A dry run changes nothing."""
    space = Space(vectors_of(tx, project=project, namespace=namespace))
    memories = get_many(tx, space.ids)
    groups = sorted(_groups(space, memories, similarity_threshold), key=lambda each: -len(each[0]))
    return [
        _join(tx, shortlist, [memories[each] for each in ids], least, strategy, dry_run=dry_run)
        for ids, least in groups[:max_groups]
    ]


def _groups(space: Space, memories: dict[str, Memory], threshold: float) -> list[tuple[list[str], float]]:
    """Group memories of the same project around the most important ones; each memory is in one group."""
    found, free = [], set(space.ids)
    for leader in sorted(space.ids, key=lambda each: (-memories[each].importance, each)):
        if leader not in free:
            continue
        near = space.similarities(space.direction(space.place[leader]))
        others = (
            each for each in space.ids if each in free and each != leader and near[space.place[each]] >= threshold
        )
        repeated = ((each, _repetition(memories[each], memories[leader])) for each in others)
        close = {each: similarity for each, similarity in repeated if similarity >= threshold}
        if close:
            free -= {leader, *close}
            found.append(([leader, *close], round(min(close.values()), 4)))
    return found


def _repetition(one: Memory, other: Memory) -> float:
    """Return how much one repeats the other, by its wording: a similar meaning need not be the same statement."""
    if one.project != other.project or not agree(one.content, other.content):
        return 0.0
    return cosine(wording_of(one.content), wording_of(other.content))


def _join(
    tx: Transaction, shortlist: Shortlist, group: Sequence[Memory], least: float, strategy: Strategy, *, dry_run: bool
) -> MergedGroup:
    ordered = sorted(group, key=_ORDERS[strategy])
    kept, gone = ordered[0].id, [each.id for each in ordered[1:]]
    if not dry_run and strategy == "merge_content":
        forget(tx, [each.id for each in ordered])
        kept = remember(tx, _merge(ordered), shortlist, similar=_NO_LIMIT, is_gated=False).id
        gone = [each.id for each in ordered]
    elif not dry_run:
        forget(tx, gone)
    return MergedGroup(kept=kept, gone=tuple(gone), similarity=least)


_ORDERS = {
    "keep_newest": lambda each: (-each.created_at, each.id),
    "keep_oldest": lambda each: (each.created_at, each.id),
    "keep_highest_importance": lambda each: (-each.importance, -each.created_at, each.id),
    "merge_content": lambda each: (each.created_at, each.id),
}


def _merge(group: Sequence[Memory]) -> Draft:
    first = group[0]
    texts = dict.fromkeys(each.content for each in group)
    return as_draft(
        first,
        content="\n\n".join(texts)[:LONGEST],
        tags=tuple(dict.fromkeys(tag for each in group for tag in each.tags))[:50],
        importance=max(each.importance for each in group),
        at=first.created_at,
    )
