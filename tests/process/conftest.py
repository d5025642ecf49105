from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A place for hostile programs; a test that leaves one running fails."""
    scene = Scene(tmp_path)
    yield scene
    left = scene.survivors()
    scene.end_survivors()
    assert left == set()
