"""
Compute where to draw memories, so that similar ones are close together.

Points start on the principal axes; then similar ones attract and all repel each other, until nothing overlaps. The
same memories always give the same picture.
"""

import math
from collections.abc import Mapping, Sequence
from operator import mul

from msgspec import Struct

from snell.memory.vector_space import Space

MOST_POINTS = 100
NEAREST = 3  # edges of each point
ROUNDS = 60

Point = list[float]


class Edge(Struct, frozen=True):
    """Two similar memories, by id."""

    start: str
    end: str
    similarity: float


class Layout(Struct, frozen=True):
    """Points in a box from 0 to 1 in every direction, by id, and edges between similar ones."""

    points: dict[str, tuple[float, ...]]
    edges: tuple[Edge, ...]


def compute_layout(space: Space, dimensions: int = 2, groups: Sequence[Sequence[str]] = ()) -> Layout:
    """Return a position for each memory; those of a group stay together."""
    pairs = space.near_pairs(NEAREST, space.chance_similarity())
    points = _scale_to_box(_principal_axes(space, dimensions))
    members = [[space.place[each] for each in group] for group in groups]
    for done in range(ROUNDS):
        _move_points(points, pairs, members, step=0.05 * (1 - done / ROUNDS))
    placed = _scale_to_box(points)
    edges = tuple(Edge(space.ids[a], space.ids[b], round(near, 4)) for (a, b), near in sorted(pairs.items()))
    return Layout({each: tuple(round(x, 4) for x in placed[n]) for n, each in enumerate(space.ids)}, edges)


def _principal_axes(space: Space, dimensions: int) -> list[Point]:
    """Return the first principal components, by power iteration on the similarities."""
    similarities = [space.similarities_of(index) for index in range(len(space))]
    centred = _centre(similarities)
    axes: list[Point] = []
    for number in range(dimensions):
        # The start may be any vector that is not orthogonal to the result.
        axis = _normal([math.sin(1.0 + (number + 1) * index) for index in range(len(space))])
        for _ in range(30):
            axis = [sum(map(mul, row, axis)) for row in centred]
            for known in axes:
                shadow = sum(map(mul, axis, known))
                axis = [a - shadow * k for a, k in zip(axis, known, strict=True)]
            axis = _normal(axis)
        axes.append(axis)
    return [list(point) for point in zip(*axes, strict=True)] if len(space) else []


def _centre(similarities: Sequence[Sequence[float]]) -> list[Point]:
    count = len(similarities)
    means = [sum(row) / count for row in similarities]
    mean = sum(means) / count if count else 0.0
    return [[value - means[i] - means[j] + mean for j, value in enumerate(row)] for i, row in enumerate(similarities)]


def _normal(axis: Point) -> Point:
    length = math.sqrt(sum(map(mul, axis, axis)))
    return [each / length for each in axis] if length > 1e-12 else [0.0 for _ in axis]


def _move_points(
    points: list[Point], pairs: Mapping[tuple[int, int], float], groups: Sequence[Sequence[int]], step: float
) -> None:
    """Move every point by a small step."""
    count, room = len(points), 0.9 / math.sqrt(len(points) or 1)
    moves = [[0.0] * len(point) for point in points]
    for a in range(count):
        for b in range(a + 1, count):
            _push(points, moves, a, b, room)
    for (a, b), near in pairs.items():
        _pull(points, moves, a, b, near, room)
    for group in groups:
        _pull_together(points, moves, group)
    for point, move in zip(points, moves, strict=True):
        length = math.sqrt(sum(each * each for each in move))
        scale = min(step, length) / length if length else 0.0
        for axis, part in enumerate(move):
            point[axis] += part * scale


def _pull_together(points: list[Point], moves: list[Point], group: Sequence[int]) -> None:
    """Pull the points of a group to their centre."""
    middle = [sum(column) / len(group) for column in zip(*(points[each] for each in group), strict=True)]
    for each in group:
        for axis, (here, there) in enumerate(zip(points[each], middle, strict=True)):
            moves[each][axis] += (there - here) * 2


def _pull(points: list[Point], moves: list[Point], a: int, b: int, near: float, room: float) -> None:
    """Pull similar points together, up to a minimum distance."""
    apart = [there - here for here, there in zip(points[a], points[b], strict=True)]
    length = math.sqrt(sum(each * each for each in apart))
    force = 3 * near * max(0.0, length - room) / (length or 1.0)
    _add_force(moves, a, b, [each * force for each in apart])


def _push(points: list[Point], moves: list[Point], a: int, b: int, room: float) -> None:
    apart = [x - y for x, y in zip(points[a], points[b], strict=True)]
    square = sum(each * each for each in apart)
    if square < 1e-9:  # in the same place: any direction will do, if it is always the same
        apart, square = [1e-3 * (1 + axis + a % 7) for axis in range(len(apart))], 1e-6
    force = room * room / square
    _add_force(moves, a, b, [each * force for each in apart])


def _add_force(moves: list[Point], a: int, b: int, force: Point) -> None:
    for axis, each in enumerate(force):
        moves[a][axis] += each
        moves[b][axis] -= each


def _scale_to_box(points: Sequence[Point]) -> list[Point]:
    """Return the same picture, scaled to fill the box."""
    if not points:
        return []
    columns = []
    for column in zip(*points, strict=True):
        low, high = min(column), max(column)
        columns.append([(each - low) / (high - low) if high - low > 1e-9 else 0.5 for each in column])
    return [list(point) for point in zip(*columns, strict=True)]
