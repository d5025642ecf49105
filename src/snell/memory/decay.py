"""Change the importance of memories: unused ones decay, useful ones are reinforced."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from snell.memory.rows import get, iter_memories, touch
from snell.memory.types import ANY, Memory, NotRememberedError
from snell.model.protocols import Transaction
from snell.system.wall_clock import now_ms

DAY_MS = 86_400_000
DecayFunction = Literal["exponential", "linear", "step"]
Boost = Literal["additive", "multiplicative", "set_value"]


class Change(Struct, frozen=True):
    """The importance of a memory, before and after."""

    id: str
    before: float
    after: float


def decay(
    tx: Transaction,
    *,
    project: str = ANY,
    namespace: str = "",
    function: DecayFunction = "exponential",
    half_life_days: float = 30,
    min_importance: float = 0.1,
    access_weight: float = 0.3,
    dry_run: bool = True,
    now: int = 0,
) -> list[Change]:
    """Let memories decay; returns those whose importance changes."""
    _check(function, half_life_days, min_importance, access_weight)
    now = now or now_ms()
    changes = []
    for memory in iter_memories(tx, project=project, namespace=namespace):
        faded = decayed_importance(memory, now, function, half_life_days, min_importance, access_weight)
        if abs(faded - memory.importance) >= 0.001:
            changes.append(Change(memory.id, memory.importance, faded))
    if not dry_run:
        for change in changes:
            tx.do("UPDATE memories SET importance = ?, updated_at = ? WHERE id = ?", change.after, now, change.id)
    return changes


def decayed_importance(
    memory: Memory,
    now: int,
    function: DecayFunction,
    half_life_days: float,
    min_importance: float,
    access_weight: float,
) -> float:
    """
    Return the importance that is left. Use and importance lengthen the half-life; for often used memories a share of
    `access_weight` does not decay at all. It never rises, and never goes below the minimum unless it was there already.
    """
    days = max(0, now - max(memory.accessed_at, memory.updated_at)) / DAY_MS
    half_life = half_life_days * 1.5 ** min(memory.accesses, 20) * (1 + memory.importance)
    left = _share_left(function, days / half_life)
    stability = min(1.0, math.log1p(memory.accesses) / math.log(101))
    factor = (1 - access_weight) * left + access_weight * max(left, stability)
    return round(min(memory.importance, max(min_importance, memory.importance * factor)), 4)


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
    if boost_type not in _BOOSTS:
        raise NotRememberedError(f"`{boost_type}` is not a kind of boost", advice=f"there are {', '.join(_BOOSTS)}")
    if not 0 <= boost_amount <= 10:
        raise NotRememberedError("the amount of a boost is a number from 0 to 10")
    now = now or now_ms()
    boost = _BOOSTS[boost_type]
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


def _check(function: str, half_life_days: float, min_importance: float, access_weight: float) -> None:
    if function not in ("exponential", "linear", "step"):
        raise NotRememberedError(f"`{function}` is not a decay function", advice="use exponential, linear or step")
    if not 1 <= half_life_days <= 365:
        raise NotRememberedError("the half-life is a number of days from 1 to 365")
    if not 0 <= min_importance <= 1 or not 0 <= access_weight <= 1:
        raise NotRememberedError("the minimum importance and the access weight are numbers from 0 to 1")
