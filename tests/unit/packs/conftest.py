"""What the tests of packs share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.packs.remember_runtime import RememberRuntime


@pytest.fixture
def remembering(tmp_path: Path) -> Iterator[Callable[..., RememberRuntime]]:
    made: list[RememberRuntime] = []

    def make(**options: Any) -> RememberRuntime:
        made.append(RememberRuntime(tmp_path, options))
        return made[-1]

    yield make
    for each in made:
        each.runtime.close()
