"""The first look at very many memories finds the same with numpy and without."""

from random import Random

import pytest

from snell.llm.embeddings.static_vectors import numpy_with_bits
from snell.memory.shortlist import _Part


@pytest.mark.parametrize("number", [3, 40, 41, 2_000])
@pytest.mark.parametrize("width", [5, 32])
def test_the_nearest_and_their_order_are_the_same_also_among_equals(number: int, width: int) -> None:
    numpy = numpy_with_bits() or pytest.skip("numpy is not installed")
    random, part = Random(number), _Part()
    for seq in range(number):
        part.add(seq * 3, bytes(random.choice((0, 1, 255)) for _ in range(width)))  # many are as far as others
    wanted, mask = random.randbytes(width), random.randbytes(width)
    assert part.near(wanted, mask, 40, numpy) == part.near(wanted, mask, 40, None)
    part.add(9_999_999, wanted)  # what numpy looked at is not held
    assert part.near(wanted, mask, 1, numpy) == [(0, 9_999_999)]
