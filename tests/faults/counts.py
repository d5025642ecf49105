"""How often a fault is tried: a few times in the ordinary run, as often as is promised in the nightly one."""

from collections.abc import Callable
from typing import Any

import pytest

Figure = Callable[..., None]


def times(name: str, usual: int, full: int, seconds: int = 600) -> Any:
    """Run the test with a small number, and once more at night with the full one; `seconds` is when that one hangs."""
    at_night = [pytest.mark.nightly, pytest.mark.timeout(seconds)]  # on a machine with others on it
    return pytest.mark.parametrize(name, [usual, pytest.param(full, marks=at_night)])
