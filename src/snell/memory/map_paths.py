"""Paths through the memories: from one to another, or a random walk."""

import math
from random import Random

from msgspec import Struct

from snell.memory.vector_space import Neighbour, Space, between

CHOICES = 10  # the nearest ones, among which a walk chooses


class Stop(Struct, frozen=True):
    """One memory on a path, how far along it is (0 to 1), and its similarity to the point on the path."""

    id: str
    part: float
    similarity: float


def journey(space: Space, start: str, end: str, steps: int) -> list[Stop]:
    """
    Return a path from one memory to another over those between them; each is visited once.

    INVARIANT: it begins at `start` and ends at `end`. If there are too few memories it has fewer stops.
    """
    first, last = space.place[start], space.place[end]
    a, b = space.direction(first), space.direction(last)
    if first == last:
        return [Stop(start, 0.0, 1.0)]
    found = [Stop(start, 0.0, 1.0)]
    visited = {first, last}
    for step in range(1, steps - 1):
        part = step / (steps - 1)
        near = space.similarities(between(a, b, part))
        best = max((each for each in range(len(space)) if each not in visited), key=near.__getitem__, default=None)
        if best is not None:
            visited.add(best)
            found.append(Stop(space.ids[best], round(part, 4), _round(near[best])))
    return [*found, Stop(end, 1.0, 1.0)]


def wander(space: Space, start: str, steps: int, temperature: float, chance: Random) -> list[Stop]:
    """
    Return a walk from neighbour to neighbour. At temperature 0 always to the nearest; the higher, the farther it leaps.

    The similarity of a stop is to the one before it.
    """
    here = space.place[start]
    found, visited = [Stop(start, 0.0, 1.0)], {here}
    for step in range(1, steps + 1):
        near = [each for each in space.neighbours(here, CHOICES + len(visited)) if each.index not in visited][:CHOICES]
        if not near:
            break
        chosen = _choose(near, temperature, chance)
        here = chosen.index
        visited.add(here)
        found.append(Stop(space.ids[here], round(step / steps, 4), _round(chosen.similarity)))
    return found


def _choose(near: list[Neighbour], temperature: float, chance: Random) -> Neighbour:
    if temperature <= 0:
        return near[0]
    best = near[0].similarity
    weights = [math.exp((each.similarity - best) / (0.2 * temperature)) for each in near]
    return chance.choices(near, weights)[0]


def _round(similarity: float) -> float:
    return round(max(-1.0, min(1.0, similarity)), 4)
