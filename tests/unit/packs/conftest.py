"""What the tests of packs share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.packs.remember_stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Callable[..., Stage]]:
    made: list[Stage] = []

    def make(**options: Any) -> Stage:
        made.append(Stage(tmp_path, options))
        return made[-1]

    yield make
    for each in made:
        each.runtime.close()
