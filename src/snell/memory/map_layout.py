"""
Where to draw memories, so that what is alike lies together.

Points begin where the space is widest, then like ones pull each other and all push each other off, until nothing
overlaps. The same memories always give the same picture.
"""

import math
from collections.abc import Mapping, Sequence
from operator import mul

from msgspec import Struct

from snell.memory.vector_space import Space

MOST_POINTS = 100
NEAREST = 3  # edges that each point asks for
ROUNDS = 60

Point = list[float]


class Edge(Struct, frozen=True):
    """Two memories that are alike, by id."""

    start: str
    end: str
    similarity: float


class Layout(Struct, frozen=True):
    """Points in a box from 0 to 1 in every direction, by id, and edges between the like ones."""

    points: dict[str, tuple[float, ...]]
    edges: tuple[Edge, ...]


def compute_layout(space: Space, dimensions: int = 2, groups: Sequence[Sequence[str]] = ()) -> Layout:
    """A place for each memory; those of a group stay together."""
    pairs = _pairs(space)
    points = _spread(_widest(space, dimensions))
    together = [[space.place[each] for each in group] for group in groups]
    for done in range(ROUNDS):
        _settle(points, pairs, together, step=0.05 * (1 - done / ROUNDS))
    placed = _spread(points)
    edges = tuple(Edge(space.ids[a], space.ids[b], round(near, 4)) for (a, b), near in sorted(pairs.items()))
    return Layout({each: tuple(round(x, 4) for x in placed[n]) for n, each in enumerate(space.ids)}, edges)


def _pairs(space: Space) -> dict[tuple[int, int], float]:
    """Each memory with the few that are nearest to it."""
    found: dict[tuple[int, int], float] = {}
    usual = space.usual()
    for index in range(len(space)):
        for near in space.neighbours(index, NEAREST):
            if near.similarity > usual:
                found[min(index, near.index), max(index, near.index)] = near.similarity
    return found


def _widest(space: Space, dimensions: int) -> list[Point]:
    """The first principal components, by power iteration on the similarities."""
    alike = [space.similarities_of(index) for index in range(len(space))]
    centred = _centred(alike)
    axes: list[Point] = []
    for number in range(dimensions):
        # The start may be anything that does not stand at right angles to the answer.
        axis = _normal([math.sin(1.0 + (number + 1) * index) for index in range(len(space))])
        for _ in range(30):
            axis = [sum(map(mul, row, axis)) for row in centred]
            for known in axes:
                shadow = sum(map(mul, axis, known))
                axis = [a - shadow * k for a, k in zip(axis, known, strict=True)]
            axis = _normal(axis)
        axes.append(axis)
    return [list(point) for point in zip(*axes, strict=True)] if len(space) else []


def _centred(alike: Sequence[Sequence[float]]) -> list[Point]:
    count = len(alike)
    means = [sum(row) / count for row in alike]
    whole = sum(means) / count if count else 0.0
    return [[value - means[i] - means[j] + whole for j, value in enumerate(row)] for i, row in enumerate(alike)]


def _normal(axis: Point) -> Point:
    length = math.sqrt(sum(map(mul, axis, axis)))
    return [each / length for each in axis] if length > 1e-12 else [0.0 for _ in axis]


def _settle(
    points: list[Point], pairs: Mapping[tuple[int, int], float], together: Sequence[Sequence[int]], step: float
) -> None:
    """One small move of every point."""
    count, room = len(points), 0.9 / math.sqrt(len(points) or 1)
    moves = [[0.0] * len(point) for point in points]
    for a in range(count):
        for b in range(a + 1, count):
            _push(points, moves, a, b, room)
    for (a, b), near in pairs.items():
        _pull(points, moves, a, b, near, room)
    for group in together:
        middle = [sum(column) / len(group) for column in zip(*(points[each] for each in group), strict=True)]
        for each in group:
            for axis, (here, there) in enumerate(zip(points[each], middle, strict=True)):
                moves[each][axis] += (there - here) * 2
    for point, move in zip(points, moves, strict=True):
        length = math.sqrt(sum(each * each for each in move))
        scale = min(step, length) / length if length else 0.0
        for axis, part in enumerate(move):
            point[axis] += part * scale


def _pull(points: list[Point], moves: list[Point], a: int, b: int, near: float, room: float) -> None:
    """Like ones come closer, up to an arm's length."""
    apart = [there - here for here, there in zip(points[a], points[b], strict=True)]
    length = math.sqrt(sum(each * each for each in apart))
    force = 3 * near * max(0.0, length - room) / (length or 1.0)
    for axis, each in enumerate(apart):
        moves[a][axis] += each * force
        moves[b][axis] -= each * force


def _push(points: list[Point], moves: list[Point], a: int, b: int, room: float) -> None:
    apart = [x - y for x, y in zip(points[a], points[b], strict=True)]
    square = sum(each * each for each in apart)
    if square < 1e-9:  # in the same place: any direction will do, if it is always the same
        apart, square = [1e-3 * (1 + axis + a % 7) for axis in range(len(apart))], 1e-6
    force = room * room / square
    for axis, each in enumerate(apart):
        moves[a][axis] += each * force
        moves[b][axis] -= each * force


def _spread(points: Sequence[Point]) -> list[Point]:
    """The same picture, filling the box."""
    if not points:
        return []
    columns = []
    for column in zip(*points, strict=True):
        low, high = min(column), max(column)
        columns.append([(each - low) / (high - low) if high - low > 1e-9 else 0.5 for each in column])
    return [list(point) for point in zip(*columns, strict=True)]
