"""
Memories as unit vectors; the similarity of two is the cosine between them.

With numpy two thousand are fast; without it plain Python computes the same for fewer of them.
"""

import math
from collections.abc import Mapping, Sequence
from operator import mul
from typing import Any

from msgspec import Struct

from snell.llm.embeddings import numpy_or_none

MOST, MOST_WITHOUT_NUMPY = 2_000, 200
ALIKE = 0.4

Direction = Sequence[float]


class Neighbour(Struct, frozen=True):
    """A point, by its index in the space, and its similarity: 1 is the same, 0 has nothing in common."""

    index: int
    similarity: float


class Space:
    """A set of points, by id. Vectors are signed bytes, as memories store them."""

    def __init__(self, vectors: Mapping[str, bytes], most: int | None = None) -> None:
        numpy = numpy_or_none()
        most = most if most is not None else (MOST if numpy else MOST_WITHOUT_NUMPY)
        taken = dict(list(vectors.items())[:most])
        self.ids = list(taken)
        self.left_out = len(vectors) - len(taken)
        self.place = {each: index for index, each in enumerate(self.ids)}
        self._known: dict[int, list[float]] = {}
        self._matrix: Any = _rows(numpy, list(taken.values())) if numpy else None
        self._rows = [] if numpy else [_unit([each - 256 * (each > 127) for each in raw]) for raw in taken.values()]

    def __len__(self) -> int:
        return len(self.ids)

    def direction(self, index: int) -> list[float]:
        if self._matrix is not None:
            found: list[float] = self._matrix[index].tolist()
            return found
        return self._rows[index]

    def similarities(self, direction: Direction) -> list[float]:
        """Return the similarity of a direction to every point, in their order."""
        if self._matrix is not None:
            found: list[float] = _products(self._matrix, direction).tolist()
            return found
        return [_product(row, direction) for row in self._rows]

    def similarities_of(self, index: int) -> list[float]:
        """Return the similarity of one point to every point; computed once."""
        if index not in self._known:
            self._known[index] = self.similarities(self.direction(index))
        return self._known[index]

    def neighbours(self, index: int, most: int) -> list[Neighbour]:
        """Return the nearest points, the nearest first."""
        if self._matrix is not None:
            products = _products(self._matrix, self._matrix[index])
            is_large = most + 1 < len(products)  # then only the largest are sorted
            order = numpy_or_none().argpartition(-products, most + 1)[: most + 1] if is_large else range(len(products))
            near = [(float(products[place]), int(place)) for place in order]
        else:
            found = self.similarities_of(index)
            near = [(found[place], place) for place in range(len(found))]
        others = sorted((-similarity, place) for similarity, place in near if place != index)
        return [Neighbour(place, -away) for away, place in others[:most]]

    def near_pairs(self, most: int, usual: float) -> dict[tuple[int, int], float]:
        """Return each point with the few that are nearest to it, and how similar, if that is more than usual."""
        found: dict[tuple[int, int], float] = {}
        for index in range(len(self)):
            for near in self.neighbours(index, most):
                if near.similarity > usual:
                    found[min(index, near.index), max(index, near.index)] = near.similarity
        return found

    def centre(self, members: Sequence[int]) -> list[float]:
        """Return the direction in the middle of these points."""
        if self._matrix is not None:
            return _unit(self._matrix[list(members)].sum(axis=0).tolist())
        sums = [sum(column) for column in zip(*(self._rows[each] for each in members), strict=True)]
        return _unit(sums)

    def chance_similarity(self) -> float:
        """
        Return the similarity up to which two points may be similar by chance: the average plus the standard deviation.

        If all are about the same thing it is `ALIKE`, which is never chance.
        """
        sample = range(0, len(self), max(1, len(self) // 50))
        found = [near for each in sample for at, near in enumerate(self.similarities_of(each)) if at != each]
        middle = sum(found) / (len(found) or 1)
        spread = math.sqrt(sum((each - middle) ** 2 for each in found) / (len(found) or 1))
        return min(ALIKE, middle + spread)


def between(start: Direction, end: Direction, part: float) -> list[float]:
    """Return the direction at this part of the arc from one to the other."""
    cosine = max(-1.0, min(1.0, _product(start, end)))
    angle = math.acos(cosine)
    if math.sin(angle) < 1e-6:  # the same direction, or the opposite one, between which every arc is as good
        return _unit([a * (1 - part) + b * part for a, b in zip(start, end, strict=True)])
    here, there = math.sin((1 - part) * angle), math.sin(part * angle)
    return _unit([a * here + b * there for a, b in zip(start, end, strict=True)])


def _product(one: Direction, other: Direction) -> float:
    return float(sum(map(mul, one, other)))


def _unit(numbers: Direction) -> list[float]:
    length = math.sqrt(sum(each * each for each in numbers)) or 1.0
    return [each / length for each in numbers]


def _products(matrix: Any, direction: Any) -> Any:
    """Multiply without `@`: that starts a thread per core, and they wait for each other far longer than this takes."""
    numpy = numpy_or_none()
    return numpy.einsum("ij,j->i", matrix, numpy.asarray(direction, dtype="float32"))


def _rows(numpy: Any, raw: list[bytes]) -> Any:
    width = len(raw[0]) if raw else 1
    matrix = numpy.frombuffer(b"".join(raw), dtype="int8").reshape(len(raw), width).astype("float32")
    lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0
    return matrix / lengths
