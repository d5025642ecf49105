"""A machine whose daemon is gone when the test is over."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.machine import HOOK, Machine


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path)
    yield machine
    machine.stop()
    machine.end_hooks()
