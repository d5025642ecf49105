"""A machine whose daemon is gone when the test is over."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.machine import HOOK, Machine


@pytest.fixture
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    is_about_starts = request.node.get_closest_marker("real_start") or request.path.parent.name == "faults"
    machine = Machine(tmp_path, forks_daemon=not is_about_starts)
    yield machine
    machine.stop()
    machine.end_hooks()
