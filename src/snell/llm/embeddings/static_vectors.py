"""
Vectors without a model: 256 numbers from the words of a text, the parts of these words, and their meaning.

Every stem, every group of `concepts.txt` that contains the word, and every three letters in a row are hashed to a few
of the 256 places with a sign (a sparse random projection). The mean of the words' directions in the word table is
added. Two texts are near each other when they share words, parts of words, or words of similar meaning. Grammar and
the sense of a word in its context are ignored. It needs no download and no package, and takes about 0.2 ms a sentence.
"""

import hashlib
import math
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import mul
from typing import Any

from snell.llm.embeddings import numpy_or_none
from snell.llm.embeddings.stems import STOP_WORDS, expressions, groups_of, stem, terms
from snell.llm.embeddings.word_table import word_table

# Versions of this method, the best last: hashes with other weights; fewer groups; all groups; each without and with the
# word table.
VERSIONS = ("static-1", "static-2 without table", "static-2", "static-3 without table", "static-3")
SIZE = 256
SHORT = 2_000  # characters; the vectors of shorter texts are cached
MASK = 0.5
MEANING, ITSELF, GROUPS, LETTERS = 2.0, 0.6, 0.9, 0.4  # weights
_COMMON_WORDS = "file code make run add new work set thing way time change data value line name problem project"
COMMON = frozenset(stem(word) for word in _COMMON_WORDS.split())  # they say little in any collection

Places = tuple[tuple[int, float], ...]


def vector_of(text: str, weights: Mapping[str, float] | None = None) -> bytes:
    """
    Return the vector of a text as signed bytes, scaled to use their range.

    `weights` are the weights of terms in the collection that is searched, if they are known.
    """
    counted = [(term, times * (weights or {}).get(term, 1.0)) for term, times in _weighted_terms(terms(text))]
    both = zip(_hash_sums(counted), _spread(_direction_sums(counted)), strict=True)
    return quantize([hashed + direction for hashed, direction in both])


def wording_of(text: str) -> bytes:
    """
    Return a vector of the words and their parts only, without their meaning.

    It tells whether one text repeats another: `tea` and `coffee` have a similar meaning, but are two memories.
    """
    return _short_wording(text) if len(text) <= SHORT else _wording(text)


def _wording(text: str) -> bytes:
    return quantize(_hash_sums(_weighted_terms(terms(text))))


_short_wording = lru_cache(maxsize=4_096)(_wording)  # the same texts are compared again and again


def vector_version() -> str:
    """Return the version of the vectors that this installation makes."""
    return VERSIONS[-2] if word_table().problem else VERSIONS[-1]


def quantize(numbers: Sequence[float]) -> bytes:
    largest = max((abs(number) for number in numbers), default=0.0)
    scale = 127 / largest if largest else 0.0
    return array("b", [round(number * scale) for number in numbers]).tobytes()


def cosine(one: bytes, other: bytes) -> float:
    """Return the cosine of two vectors; 0 when one of them is empty or their lengths differ."""
    return cosines(one, [other])[0]


def cosines(one: bytes, others: Sequence[bytes]) -> list[float]:
    """Return the cosines of one vector and many others."""
    alike = [other for other in others if len(other) == len(one)]
    # Without numpy, a few vectors take less time than importing it.
    numpy = numpy_with_bits() if "numpy" in sys.modules and len(alike) > 1 else None
    found = iter(_by_numpy(numpy, one, alike) if numpy else _by_numbers(one, alike))
    return [next(found) if len(other) == len(one) else 0.0 for other in others]


def numpy_with_bits() -> Any:
    """Return numpy if it is installed and can count bits, else None."""
    numpy = numpy_or_none()
    return numpy if hasattr(numpy, "bitwise_count") else None


def _by_numpy(np: Any, one: bytes, others: Sequence[bytes]) -> list[float]:
    table = np.frombuffer(b"".join(others), dtype=np.int8).reshape(len(others), -1).astype(np.int32)
    ours = np.frombuffer(one, dtype=np.int8).astype(np.int32)
    products = table @ ours
    squares = (table * table).sum(axis=1, dtype=np.int64) * int((ours * ours).sum())
    return [
        int(product) / math.sqrt(int(square)) if square else 0.0
        for product, square in zip(products, squares, strict=True)
    ]


def _by_numbers(one: bytes, others: Sequence[bytes]) -> list[float]:
    ours = array("b", one)
    length = sum(map(mul, ours, ours))
    found = []
    for other in others:
        theirs = array("b", other)
        square = length * sum(map(mul, theirs, theirs))
        found.append(sum(map(mul, ours, theirs)) / math.sqrt(square) if square else 0.0)
    return found


def signature_of(vector: bytes) -> bytes:
    """Return one bit for each number: 1 when it is positive."""
    return _bits(number > 0 for number in array("b", vector))


def significant_bits(vector: bytes) -> bytes:
    """Return one bit for each number: 1 when it is large enough for its sign to be significant."""
    numbers = array("b", vector)
    least = MASK * math.sqrt(sum(map(mul, numbers, numbers)) / max(1, len(numbers)))
    return _bits(abs(number) > least for number in numbers)


def _bits(flags: Iterable[bool]) -> bytes:
    bits = "".join("1" if each else "0" for each in flags)
    return int(bits or "0", 2).to_bytes((len(bits) + 7) // 8, "big")


def _hash_sums(counted: Iterable[tuple[str, float]]) -> list[float]:
    sums = [0.0] * SIZE
    for term, strength in counted:
        for place, weight in _places_of(term):
            sums[place] += weight * strength
    return sums


def _direction_sums(counted: Iterable[tuple[str, float]]) -> list[float]:
    sums = [0.0] * word_table().header.size
    for term, strength in counted:
        if direction := _direction_of(term):
            sums = [total + strength * each for total, each in zip(sums, direction, strict=True)]
    return sums


def _spread(directions: Sequence[float]) -> list[float]:
    """Repeat the numbers of the word table over all places; lengths and angles stay the same."""
    times = SIZE // len(directions) if directions else 0
    share = MEANING / math.sqrt(times) if times else 0.0
    found = [share * each for each in directions] * times
    return found + [0.0] * (SIZE - len(found))


def _weighted_terms(found: list[str]) -> Iterator[tuple[str, float]]:
    for term, times in Counter([*found, *expressions(found)]).items():
        if term not in STOP_WORDS:
            yield term, (1 + math.log(times)) * (0.5 if term in COMMON else 1.0)


@lru_cache(maxsize=20_000)
def _places_of(term: str) -> Places:
    """Return the places and weights of a term: by its stem, its concepts and its letters."""
    sums: defaultdict[int, float] = defaultdict(float)
    groups = groups_of().get(term, ())
    letters = _letters(term)
    for feature, weight, places in (
        (f"w:{term}", ITSELF, 12),
        *((f"c:{group}", GROUPS / math.sqrt(len(groups)), 12) for group in groups),
        *((f"g:{three}", LETTERS / math.sqrt(len(letters)), 4) for three in letters),
    ):
        for place, sign in _hash_places(feature, places):
            sums[place] += sign * weight / math.sqrt(places)
    return tuple(sums.items())


@lru_cache(maxsize=20_000)
def _direction_of(term: str) -> tuple[float, ...]:
    return word_table().direction(term)


def _letters(term: str) -> list[str]:
    if len(term) < 4:
        return []
    framed = f"<{term[:40]}>"
    return [framed[at : at + 3] for at in range(len(framed) - 2)]


def _hash_places(feature: str, places: int) -> Iterator[tuple[int, int]]:
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=2 * places).digest()
    for at in range(places):
        yield digest[2 * at] % SIZE, 1 if digest[2 * at + 1] & 1 else -1
