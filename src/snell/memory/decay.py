"""Change the importance of memories: unused ones decay, useful ones are reinforced."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from snell.memory.rows import get, iter_memories, touch
from snell.memory.types import ANY, Memory
from snell.model.protocols import Transaction
from snell.system.wall_clock import now_ms

DAY_MS = 86_400_000
DecayFunction = Literal["exponential", "linear", "step"]
Boost = Literal["additive", "multiplicative", "set_value"]


class Decay(Struct, frozen=True, kw_only=True):
    """How the importance of unused memories decays. The operation that takes these values checks them."""

    function: DecayFunction = "exponential"
    half_life_days: float = 30
    min_importance: float = 0.1
    access_weight: float = 0.3

    def importance_left(self, memory: Memory, now: int) -> float:
        """
        Return the importance that is left. Use and importance lengthen the half-life; for often used memories a share
        of `access_weight` does not decay at all. It never rises, and never goes below the minimum unless it was there
        already.
        """
        days = max(0, now - max(memory.accessed_at, memory.updated_at)) / DAY_MS
        half_life = self.half_life_days * 1.5 ** min(memory.accesses, 20) * (1 + memory.importance)
        left = _share_left(self.function, days / half_life)
        stability = min(1.0, math.log1p(memory.accesses) / math.log(101))
        factor = (1 - self.access_weight) * left + self.access_weight * max(left, stability)
        return round(min(memory.importance, max(self.min_importance, memory.importance * factor)), 4)


class Change(Struct, frozen=True):
    """The importance of a memory, before and after."""

    id: str
    before: float
    after: float


def decay(
    tx: Transaction, *, project: str = ANY, namespace: str = "", dry_run: bool = True, now: int = 0, **how: Any
) -> list[Change]:
    """Let memories decay; returns those whose importance changes. `how` are fields of `Decay`."""
    now, rule = now or now_ms(), Decay(**how)
    changes = []
    for memory in iter_memories(tx, project=project, namespace=namespace):
        faded = rule.importance_left(memory, now)
        if abs(faded - memory.importance) >= 0.001:
            changes.append(Change(memory.id, memory.importance, faded))
    if not dry_run:
        for change in changes:
            tx.do("UPDATE memories SET importance = ?, updated_at = ? WHERE id = ?", change.after, now, change.id)
    return changes


def reinforce(
    tx: Transaction,
    memory_ids: Sequence[str],
    *,
    boost_type: Boost = "additive",
    boost_amount: float = 0.1,
    update_access: bool = True,
    now: int = 0,
) -> list[Change]:
    """Raise the importance of these, up to 1; raises an error and changes nothing if an id does not exist."""
    now, boost = now or now_ms(), _BOOSTS[boost_type]
    changes = []
    for memory in [get(tx, memory_id) for memory_id in dict.fromkeys(memory_ids)]:
        after = round(max(0.0, min(1.0, boost(memory.importance, boost_amount))), 4)
        changes.append(Change(memory.id, memory.importance, after))
        tx.do("UPDATE memories SET importance = ?, updated_at = ? WHERE id = ?", after, now, memory.id)
    if update_access:
        touch(tx, memory_ids, now)
    return changes


_BOOSTS: Mapping[str, Callable[[float, float], float]] = {
    "additive": lambda importance, amount: importance + amount,
    "multiplicative": lambda importance, amount: importance * (1 + amount),
    "set_value": lambda _importance, amount: amount,
}


def _share_left(function: DecayFunction, half_lives: float) -> float:
    if function == "linear":
        return max(0.0, 1 - half_lives / 2)
    if function == "step":
        return 1.0 if half_lives < 1 else 0.5 if half_lives < 2 else 0.25
    return float(2.0**-half_lives)
